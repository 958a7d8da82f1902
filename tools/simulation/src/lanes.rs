//! The units of a sale in its lanes, and the calls to Redis to reserve them.

#[derive(Debug, Clone)]
pub struct Lanes {
    free: Vec<u32>,
    pub moved: u32,
    pub transfers: u32,
}

/// Calls of Redis, by lane.
#[derive(Debug, Clone, Copy)]
pub enum Call {
    To(usize),
    /// One to each lane except this.
    ToOthers(usize),
}

impl Lanes {
    /// Deals units in contiguous ranges.
    pub fn deal(units: u32, lanes: usize) -> Self {
        let until = |lane: usize| (lane as u64 * u64::from(units) / lanes as u64) as u32;
        Self { free: (0..lanes).map(|lane| until(lane + 1) - until(lane)).collect(), moved: 0, transfers: 0 }
    }

    pub fn free(&self) -> u32 {
        self.free.iter().sum()
    }

    /// Takes a unit for a user of this lane, from another lane if necessary. Returns whether there was one.
    pub fn reserve(&mut self, home: usize, mut called: impl FnMut(Call)) -> bool {
        called(Call::To(home));
        if self.free[home] == 0 {
            called(Call::ToOthers(home));
            let fullest = (0..self.free.len()).max_by_key(|lane| self.free[*lane]).unwrap_or(home);
            if self.free[fullest] == 0 {
                // All lanes are read twice before a user hears `sold_out`.
                called(Call::ToOthers(home));
                return false;
            }
            let given = (self.free[fullest] / 2).max(1);
            self.free[fullest] -= given;
            self.free[home] += given;
            self.moved += given;
            self.transfers += 1;
            // `donate`, `accept`, and the deletion of the record.
            called(Call::To(fullest));
            called(Call::To(home));
            called(Call::To(fullest));
        }
        self.free[home] -= 1;
        true
    }

    /// Returns a unit to the lane of its last holder.
    pub fn give_back(&mut self, home: usize) {
        self.free[home] += 1;
    }
}
