//! A count over time, and its largest value in a range.

/// A count that changes over time. Finds its largest value between two moments in O(log n).
pub(super) struct Timeline {
    /// When it changes, ascending. The count is 0 before the first.
    moments: Vec<u64>,
    /// A tournament tree: leaves are the counts from each moment on, and each inner node is the larger of its two
    /// children.
    largest: Vec<u32>,
}

impl Timeline {
    /// Counts intervals, each from its first to its last moment.
    pub(super) fn of(intervals: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut changes = Vec::new();
        for (first, last) in intervals {
            changes.push((first, 1));
            if let Some(after) = last.checked_add(1) {
                changes.push((after, -1));
            }
        }
        changes.sort_unstable_by_key(|change: &(u64, i64)| change.0);
        let (mut moments, mut counts, mut count) = (Vec::new(), Vec::new(), 0);
        for at_once in changes.chunk_by(|one, other| one.0 == other.0) {
            count += at_once.iter().map(|change| change.1).sum::<i64>();
            moments.push(at_once[0].0);
            counts.push(u32::try_from(count).unwrap_or(0));
        }
        let leaves = counts.len();
        let mut largest = vec![0; leaves];
        largest.extend(counts);
        for node in (1..leaves).rev() {
            largest[node] = largest[2 * node].max(largest[2 * node + 1]);
        }
        Self { moments, largest }
    }

    /// The largest count from `first` to `last`.
    pub(super) fn most(&self, first: u64, last: u64) -> u32 {
        let leaves = self.moments.len();
        // The last change up to `first` set the value at `first`.
        let begin = self.moments.partition_point(|at| *at <= first).saturating_sub(1);
        let end = self.moments.partition_point(|at| *at <= last);
        let (mut low, mut high, mut most) = (begin + leaves, end + leaves, 0);
        while low < high {
            if low % 2 == 1 {
                most = most.max(self.largest[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                most = most.max(self.largest[high]);
            }
            low /= 2;
            high /= 2;
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Timeline;

    proptest! {
        #[test]
        fn the_largest_count_is_that_of_some_moment(
            intervals in prop::collection::vec((0..40_u64, 0..20_u64), 0..12),
            asked in prop::collection::vec((0..70_u64, 0..20_u64), 1..20),
        ) {
            let intervals: Vec<_> = intervals.into_iter().map(|(first, long)| (first, first + long)).collect();
            let timeline = Timeline::of(intervals.clone());
            for (first, long) in asked {
                let at = |moment| intervals.iter().filter(|(from, to)| (*from..=*to).contains(&moment)).count();
                let most = (first..=first + long).map(at).max().unwrap_or(0);
                prop_assert_eq!(timeline.most(first, first + long) as usize, most);
            }
        }
    }

    #[test]
    fn what_has_no_end_stays() {
        let timeline = Timeline::of([(5, u64::MAX), (7, 8)]);
        assert_eq!(
            [timeline.most(0, 4), timeline.most(0, 5), timeline.most(6, 7), timeline.most(9, u64::MAX)],
            [0, 1, 2, 1]
        );
        assert_eq!(Timeline::of([]).most(0, u64::MAX), 0);
    }
}
