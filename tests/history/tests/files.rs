//! A history survives being written and read.

use history::{History, check};

use crate::simulator::{Plan, simulated};

#[test]
fn a_file_has_all_of_a_history() {
    for seed in 0..50 {
        let plan = Plan {
            clients: 5,
            requests_each: 9,
            units: 3,
            limit: 2,
            forgets: seed % 2 == 0,
            reads_ledger: true,
            compares_clocks: seed % 3 == 0,
        };
        let history = simulated(plan, seed);
        let mut file = Vec::new();
        history.write(&mut file).unwrap();
        let read = History::read(&*file).unwrap();
        let mut again = Vec::new();
        read.write(&mut again).unwrap();
        assert_eq!(String::from_utf8(file).unwrap(), String::from_utf8(again).unwrap());
        assert_eq!(check(&history), check(&read));
    }
}

#[test]
fn what_is_no_history_is_told_by_its_line() {
    let order = r#"{"order":{"round":"lamp.1","reservation":"a","user":"alice","unit":1,"status":"paid"}}"#;
    let error = History::read(format!("{order}\n{{\"left\":1}}\n").as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("line 2 is not one of a history: unknown variant"), "{error}");
}
