/// Numbers for reservations and users, in the order in which they appear.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The digits of each reservation's UUID, and its user.
    ids: Vec<(String, Option<u8>)>,
    users: Vec<String>,
}

impl Names {
    /// The number of a reservation, by its id with or without its round.
    pub(crate) fn id(&mut self, text: &str) -> u8 {
        let digits: String = text.rsplit('.').next().unwrap_or_default().replace('-', "");
        let at = self.ids.iter().position(|(known, _)| *known == digits).unwrap_or_else(|| {
            self.ids.push((digits, None));
            self.ids.len() - 1
        });
        assert!(at < model::IDS, "the model has room for {} reservations", model::IDS);
        at as u8
    }

    /// The number of a user's reservation.
    pub(crate) fn id_of(&mut self, user: &str, text: &str) -> u8 {
        let (id, user) = (self.id(text), self.user(user));
        self.ids[usize::from(id)].1 = Some(user);
        id
    }

    pub(crate) fn user(&mut self, name: &str) -> u8 {
        let at = self.users.iter().position(|known| known == name).unwrap_or_else(|| {
            self.users.push(name.to_owned());
            self.users.len() - 1
        });
        assert!(at < model::USERS, "the model has room for {} users", model::USERS);
        at as u8
    }

    pub(crate) fn all(&self) -> (Vec<String>, Vec<u8>) {
        let named = self.ids.iter().map(|(digits, user)| {
            let user = user.unwrap_or_default();
            let name = self.users.get(usize::from(user)).map_or("", |name| name);
            (format!("{name} {digits}"), user)
        });
        named.unzip()
    }
}
