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

/// Why a file cannot be read as a history.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Reading failed.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line is not part of a history.
    #[error("line {line} is not one of a history: {error}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        error: serde_json::Error,
    },
}

impl History {
    /// Writes one line for each round, operation and order. Fails if writing fails.
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
    pub fn read(from: impl BufRead) -> Result<Self, Unreadable> {
        let mut history = Self::default();
        for (at, text) in from.lines().enumerate() {
            let text = text?;
            match serde_json::from_str(&text).map_err(|error| Unreadable::Line { line: at + 1, error })? {
                Line::Round(round) => history.rounds.push(round),
                Line::Operation(operation) => history.operations.push(operation),
                Line::Order(order) => history.orders.push(order),
            }
        }
        Ok(history)
    }
}
