use super::record::Record;

/// How many records after the first unexplained one may be explained before it.
const WINDOW: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Done {
    first: usize,
    /// Explained records after it, one bit each.
    behind: u64,
}

impl Done {
    pub(super) fn count(self) -> usize {
        self.first + self.behind.count_ones() as usize
    }

    pub(super) fn has(self, at: usize) -> bool {
        at < self.first
            || (at > self.first && at - self.first <= WINDOW && self.behind >> (at - self.first - 1) & 1 == 1)
    }

    pub(super) fn and(mut self, at: usize) -> Self {
        if at > self.first {
            self.behind |= 1 << (at - self.first - 1);
            return self;
        }
        self.first += 1;
        while self.behind & 1 == 1 {
            self.behind >>= 1;
            self.first += 1;
        }
        // The first unexplained record has no bit.
        self.behind >>= 1;
        self
    }

    /// Records that may come next: no other unexplained record ended before they began. Sorted by their ends.
    pub(super) fn next(self, records: &[Record]) -> Vec<usize> {
        let open = || (self.first..records.len().min(self.first + WINDOW + 1)).filter(|at| !self.has(*at));
        let Some(first_over) = open().map(|at| records[at].to).min() else { return Vec::new() };
        let mut next: Vec<usize> = open().filter(|at| records[*at].from <= first_over).collect();
        next.sort_by_key(|at| records[*at].to);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::What;

    fn record(from: u64, to: u64) -> Record {
        Record { from, to, run: 0, what: What::Saves {} }
    }

    #[test]
    fn what_was_over_before_comes_before() {
        let records = [record(1, 5), record(2, 3), record(4, 6), record(7, 7)];
        let done = Done::default();
        assert_eq!(done.next(&records), [1, 0]);
        assert_eq!(done.and(1).next(&records), [0, 2]);
        assert_eq!(done.and(0).next(&records), [1]);
        assert_eq!(done.and(1).and(2).next(&records), [0]);
        let three = done.and(1).and(2).and(0);
        assert_eq!((three, three.count()), (done.and(0).and(1).and(2), 3));
        assert_eq!((three.next(&records), three.has(2), three.has(3)), (vec![3], true, false));
        assert!(three.and(3).next(&records).is_empty());
    }
}
