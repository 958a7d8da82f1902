//! What a report says: facts for programs, by their keys, and rows for people.

use std::fmt::{Display, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct Figures {
    pub(super) facts: Map<String, Value>,
    pub(super) text: String,
    /// Whether every sum and count is right.
    pub(super) is_right: bool,
}

impl Figures {
    pub(super) fn new(is_right: bool) -> Self {
        Self { facts: Map::new(), text: String::new(), is_right }
    }

    /// The members of an object, for programs alone.
    pub(super) fn facts(&mut self, object: Value) {
        if let Value::Object(members) = object {
            self.facts.extend(members);
        }
    }

    /// A name and what is beside it, for people alone.
    pub(super) fn row(&mut self, name: &str, value: impl Display) {
        writeln!(self.text, "  {name:<28} {value}").expect("a string takes everything");
    }

    pub(super) fn gap(&mut self) {
        self.row("", "");
    }

    pub(super) fn both(&mut self, key: &str, name: &str, value: impl Display + Serialize) {
        self.row(name, &value);
        self.facts.insert(key.to_owned(), json!(value));
    }

    pub(super) fn add(&mut self, more: Self) {
        self.facts.extend(more.facts);
        self.text += &more.text;
        self.is_right &= more.is_right;
    }
}
