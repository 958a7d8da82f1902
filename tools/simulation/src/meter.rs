//! Counts for each second.

use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Second {
    /// Seconds after the opening.
    pub at_s: i64,
    /// Requests at CloudFront.
    pub edge: f64,
    /// Requests at the gateway, including refused ones.
    pub gateway: f64,
    /// Requests refused with 429 or 503.
    pub refused: f64,
    pub redis: f64,
    pub redis_queue: f64,
    pub waiting: u32,
    /// People whose turn has come since the opening.
    pub admitted: u32,
    pub free: u32,
    pub paid: u32,
}

/// All seconds from the opening of the line on.
#[derive(Debug, Clone)]
pub struct Meter {
    first_s: i64,
    seconds: Vec<Second>,
}

impl Meter {
    /// A meter that begins with this second.
    pub const fn from(first_s: i64) -> Self {
        Self { first_s, seconds: Vec::new() }
    }

    /// The second that contains this moment.
    pub fn at(&mut self, ms: i64) -> &mut Second {
        let index = (ms.div_euclid(1_000) - self.first_s).max(0) as usize;
        while self.seconds.len() <= index {
            let at_s = self.first_s + self.seconds.len() as i64;
            self.seconds.push(Second { at_s, ..Second::default() });
        }
        &mut self.seconds[index]
    }

    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    pub fn most(&self, of: impl Fn(&Second) -> f64) -> f64 {
        self.seconds.iter().map(of).fold(0.0, f64::max)
    }
}
