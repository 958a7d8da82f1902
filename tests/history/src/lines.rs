//! Histories as files: JSON lines, one for each round, operation and order.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::record::{History, Operation, Order, Round};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Round(Round),
    Operation(Operation),
    Order(Order),
}

impl History {
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let mut line = |line: Line| -> io::Result<()> {
            serde_json::to_writer(&mut to, &line)?;
            to.write_all(b"\n")
        };
        for round in &self.rounds {
            line(Line::Round(round.clone()))?;
        }
        for operation in &self.operations {
            line(Line::Operation(*operation))?;
        }
        for order in &self.orders {
            line(Line::Order(*order))?;
        }
        to.flush()
    }

    /// Reads what [`Self::write`] wrote. Fails if reading fails, or a line is not part of a history.
    pub fn read(from: impl BufRead) -> io::Result<Self> {
        let mut history = Self::default();
        for (at, text) in from.lines().enumerate() {
            let line: Line = serde_json::from_str(&text?)
                .map_err(|error| io::Error::other(format!("line {} is not one of a history: {error}", at + 1)))?;
            match line {
                Line::Round(round) => history.rounds.push(round),
                Line::Operation(operation) => history.operations.push(operation),
                Line::Order(order) => history.orders.push(order),
            }
        }
        Ok(history)
    }
}
