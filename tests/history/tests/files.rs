//! A history survives being written and read.

use history::{History, check};

use crate::dice::Dice;
use crate::simulator::{Plan, simulated};

#[test]
fn a_file_has_all_of_a_history() {
    for seed in 0..50 {
        let history = simulated(Plan::random(&mut Dice::new(seed)), seed);
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
