use std::sync::Arc;

use api::Problem;
use sale::PictureUrl;

/// The hosts, besides the page's own, that pictures may come from. The page's policy blocks all others.
#[derive(Debug, Clone)]
pub struct PictureHosts(Arc<[String]>);

impl PictureHosts {
    /// Reads the setting `PICTURE_HOSTS`: names separated by commas.
    pub fn new(setting: Option<String>) -> Self {
        let setting = setting.unwrap_or_default();
        Self(setting.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_ascii_lowercase).collect())
    }

    /// Refuses pictures on other hosts, and names the first one.
    pub(crate) fn check(&self, pictures: &[PictureUrl]) -> Result<(), Problem> {
        // The page's policy allows hosts at their default port only.
        if let Some(picture) = pictures.iter().find(|picture| picture.has_port()) {
            return Err(Problem::invalid(format!("pictures: {picture} names a port, and browsers would not load it")));
        }
        let is_elsewhere = |host: &&str| !self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(host));
        let Some(host) = pictures.iter().filter_map(PictureUrl::host).find(is_elsewhere) else { return Ok(()) };
        let allowed = match &*self.0 {
            [] => "this deployment allows none; add the host to the setting pictureHosts".to_owned(),
            hosts => format!("allowed: {}", hosts.join(", ")),
        };
        let why = format!("pictures: {host} is not an allowed host for pictures; {allowed}");
        Err(Problem::invalid_field("pictures", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_on_hosts_that_the_page_loads_from() {
        let check = |setting: Option<&str>, picture: &str| {
            PictureHosts::new(setting.map(str::to_owned)).check(&[picture.parse().unwrap()]).is_ok()
        };
        let (cdn, own) = ("https://CDN.example.com/lamp.webp", "/art/lamp.svg");
        assert!(check(Some("img.example.com, cdn.example.com"), cdn) && check(None, own));
        for refused in [
            "https://cdn.example.com:8443/a.png",
            "https://cdn.example.com.evil.example/a.png",
            "https://example.com/a.png",
        ] {
            assert!(!check(Some("cdn.example.com"), refused), "{refused}");
        }
        assert!(!check(None, cdn) && !check(Some(" "), cdn));
    }
}
