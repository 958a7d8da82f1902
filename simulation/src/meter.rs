//! What is counted each second.

use serde::Serialize;

/// One second.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Second {
    /// Seconds after the opening.
    pub at_s: i64,
    /// Requests at CloudFront.
    pub edge: f64,
    /// Requests at the gateway, those that it refused included.
    pub gateway: f64,
    /// Those that heard 429 or 503.
    pub refused: f64,
    /// Calls of Redis.
    pub redis: f64,
    /// Calls that wait at the busiest shard at the end of the second.
    pub redis_queue: f64,
    /// People who wait in line.
    pub waiting: u32,
    /// People whose turn has come since the opening.
    pub admitted: u32,
    /// Units that can be had.
    pub free: u32,
    /// Units that are paid for.
    pub paid: u32,
}

/// All seconds from the opening of the line on.
#[derive(Debug, Clone)]
pub struct Meter {
    first_s: i64,
    seconds: Vec<Second>,
}

impl Meter {
    /// Begins with this second.
    pub const fn from(first_s: i64) -> Self {
        Self { first_s, seconds: Vec::new() }
    }

    /// The second in which this moment is.
    pub fn at(&mut self, ms: i64) -> &mut Second {
        let index = (ms.div_euclid(1_000) - self.first_s).max(0) as usize;
        while self.seconds.len() <= index {
            let at_s = self.first_s + self.seconds.len() as i64;
            self.seconds.push(Second { at_s, ..Second::default() });
        }
        &mut self.seconds[index]
    }

    /// All of them.
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// The fullest second.
    pub fn most(&self, of: impl Fn(&Second) -> f64) -> f64 {
        self.seconds.iter().map(of).fold(0.0, f64::max)
    }
}
