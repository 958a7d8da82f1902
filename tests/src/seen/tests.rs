use super::{Calm, Effect, Seen, is_read};

impl Seen {
    /// An effect with nothing beside it.
    fn pass(&mut self, kind: &str) -> Effect {
        let begun = self.begin(kind);
        self.end(begun.clone());
        begun
    }

    fn calm_of(&self, effect: &Effect) -> Option<Calm> {
        self.calms.get(effect).cloned()
    }
}

#[test]
fn a_script_reads_if_all_its_commands_do() {
    for kind in ["EVALSHA availability", "EVALSHA buyers", "Query", "HGETALL"] {
        assert!(is_read(kind), "{kind}");
    }
    for kind in ["EVALSHA reserve", "EVALSHA line", "EVALSHA unknown", "EVAL availability", "PutItem", "DEL"] {
        assert!(!is_read(kind), "{kind}");
    }
}

#[test]
fn reads_between_two_changes_have_the_same_calm() {
    let mut seen = Seen::default();
    let put = seen.pass("PutItem");
    let (first, second) = (seen.begin("Query"), seen.begin("Query"));
    seen.end(second.clone());
    seen.end(first.clone());
    let send = seen.begin("SendMessage");
    let calm = seen.calm_of(&send).unwrap();
    assert_eq!(calm.after, Some(put));
    assert_eq!(seen.calm_of(&first), Some(calm.clone()));
    assert_eq!(seen.calm_of(&second), Some(calm));
}

#[test]
fn a_read_beside_a_change_has_no_calm() {
    let mut seen = Seen::default();
    let before = seen.begin("Query");
    let put = seen.begin("PutItem");
    let within = seen.pass("Query");
    seen.end(put.clone());
    seen.end(before.clone());
    let unanswered = seen.begin("Query");
    assert_eq!([before, within, unanswered].map(|read| seen.calm_of(&read)), [None, None, None]);
    assert_eq!(seen.calm_of(&put), Some(Calm::default()));
}

#[test]
fn of_two_changes_at_once_neither_is_the_last() {
    let mut seen = Seen::default();
    let (put, send) = (seen.begin("PutItem"), seen.begin("SendMessage"));
    seen.end(put.clone());
    let delete = seen.begin("DeleteItem");
    seen.end(send.clone());
    seen.end(delete.clone());
    let read = seen.pass("Query");
    assert_eq!(seen.calm_of(&read).unwrap().after, None);
    assert_ne!(seen.calm_of(&read), seen.calm_of(&put));
    assert_eq!(seen.calm_of(&send), None);
    assert_eq!(seen.calm_of(&delete), None);
}

#[test]
fn what_nobody_sees_ends_a_calm() {
    let mut seen = Seen::default();
    let before = seen.pass("Query");
    let put = seen.begin("PutItem");
    seen.interrupt();
    seen.end(put);
    let after = seen.pass("Query");
    seen.interrupt();
    let last = seen.pass("Query");
    let calms = [before, after, last].map(|read| seen.calm_of(&read).unwrap());
    assert!(calms.iter().all(|calm| calm.after.is_none()));
    assert!(calms[0] < calms[1] && calms[1] < calms[2]);
}

#[test]
fn every_effect_is_counted_by_its_kind() {
    let mut seen = Seen::default();
    for kind in ["Query", "PutItem", "Query"] {
        seen.pass(kind);
    }
    let all = [("PutItem", 0), ("Query", 0), ("Query", 1)];
    assert!(seen.effects.into_iter().eq(all.map(|(kind, nth)| Effect { kind: kind.to_owned(), nth })));
}
