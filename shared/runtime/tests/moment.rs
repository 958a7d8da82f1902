//! Time between two moments. Not beside its source, which `tests/schedules` compiles with other clocks.

use std::time::Duration;

use runtime::Moment;
use sale::EpochMs;
use tokio::time::Instant;

#[test]
fn the_clock_that_shows_more_counts() {
    let (instant, wall) = (Instant::now(), EpochMs(5_000));
    let earlier = Moment::of(instant, wall);
    let ms = Duration::from_millis;
    for (by_monotonic, by_wall, since) in [(0, 0, 0), (7, 3, 7), (3, 7, 7), (7, -3, 7)] {
        let later = Moment::of(instant + ms(by_monotonic), EpochMs(wall.0 + by_wall));
        assert_eq!(later.since(earlier), ms(since));
        assert_eq!(later.checked_since(earlier), (by_wall >= 0).then_some(ms(since)));
    }
}
