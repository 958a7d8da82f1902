//! How the line moves.

use pass::line::{Advance, Flow, Late, OVERBOOKED, Progress, WHOLE_PPB, Watermark, advance, ceiling, stand};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const OPENS: u64 = 1_000_000;

fn flow(now_ms: u64) -> Flow {
    Flow {
        now_ms,
        opens_at_ms: OPENS,
        people: 10_000,
        late_waiting: 0,
        free: 10_000,
        taken: 0,
        may_return: 0,
        per_s: 100,
    }
}

fn admitted(progress: &Progress) -> u64 {
    (u128::from(progress.watermark.early_ppb) * u128::from(progress.people) / u128::from(WHOLE_PPB)) as u64
}

#[test]
fn it_rises_at_the_planned_rate_once_a_second() {
    assert_eq!(advance(&Progress::default(), &flow(OPENS - 1)), None);
    let mut progress = Progress::default();
    for second in 1..=10 {
        let Advance { progress: next, late } = advance(&progress, &flow(OPENS + second * 1000)).unwrap();
        assert_eq!((admitted(&next), late), (second * 100, Late::Stay));
        assert_eq!(advance(&next, &flow(OPENS + second * 1000 + 999)), None, "once a second");
        progress = next;
    }
    let paused = advance(&progress, &Flow { per_s: 0, ..flow(OPENS + 11_000) }).unwrap().progress;
    assert_eq!(paused.watermark, progress.watermark);
    let faster = advance(&paused, &Flow { per_s: 1000, ..flow(OPENS + 12_000) }).unwrap().progress;
    assert_eq!(admitted(&faster), 2000);
    let after_a_night = advance(&faster, &Flow { per_s: 100, ..flow(OPENS + 40_000_000) }).unwrap().progress;
    assert_eq!(admitted(&after_a_night), 2200, "two seconds are made up for");
}

#[test]
fn remainders_are_not_lost() {
    let mut progress = Progress::default();
    for second in 1..=70 {
        progress =
            advance(&progress, &Flow { people: 7_000, per_s: 1, ..flow(OPENS + second * 1000) }).unwrap().progress;
    }
    assert_eq!(progress.watermark.early_ppb, WHOLE_PPB / 100);
}

#[test]
fn it_stands_while_nothing_is_free_and_goes_on_with_what_comes_back() {
    let at = |second: u64, free: u64, before: &Progress| {
        let flow = Flow { free, taken: 50 - free, may_return: 50 - free, ..flow(OPENS + second * 1000) };
        advance(before, &flow).unwrap().progress
    };
    let mut progress = at(1, 50, &Progress::default());
    assert_eq!(admitted(&progress), 100, "50 are free, so up to {} are called", 50 * OVERBOOKED);
    for second in 2..20 {
        progress = at(second, 0, &progress);
    }
    assert_eq!(admitted(&progress), 100, "sold out");
    // People who were admitted and found nothing are not waited for.
    let more = admitted(&at(20, 1, &progress)) - 100;
    assert!((1..=OVERBOOKED).contains(&more), "{more}");
}

#[test]
fn people_who_are_away_hold_nobody_up() {
    let mut progress = Progress::default();
    // 10 units for 10,000 people, none of whom comes.
    for second in 1..=2_000 {
        progress = advance(&progress, &Flow { free: 10, per_s: 50, ..flow(OPENS + second * 1000) }).unwrap().progress;
    }
    assert!(admitted(&progress) > 2_500, "{}", admitted(&progress));
}

#[test]
fn late_ones_follow_once_all_early_ones_are_in() {
    let full = Progress {
        at_ms: OPENS + 5_000,
        watermark: Watermark { early_ppb: WHOLE_PPB - 500_000, late_s: 0, late_ppb: 0 },
        people: 10_000,
        ..Progress::default()
    };
    let next = advance(&full, &Flow { late_waiting: 1_000, ..flow(OPENS + 6_000) }).unwrap();
    assert_eq!(next.progress.watermark.early_ppb, WHOLE_PPB, "5 early ones");
    assert_eq!(next.late, Late::More(95), "and 95 late ones");
    let nobody = advance(&next.progress, &flow(OPENS + 7_000)).unwrap();
    assert_eq!(nobody.late, Late::More(0));
    assert_eq!(nobody.progress.waited_for / 1000, (100_000 - 100_000 / 60) / 1000, "nobody came, nobody is waited for");
}

#[test]
fn without_early_ones_it_is_open_to_late_ones_at_once() {
    let next = advance(&Progress::default(), &Flow { people: 0, late_waiting: 3, ..flow(OPENS) }).unwrap();
    assert_eq!((next.progress.watermark.early_ppb, next.late), (WHOLE_PPB, Late::More(3)));
    let paused = advance(&Progress::default(), &Flow { people: 0, late_waiting: 3, per_s: 0, ..flow(OPENS) }).unwrap();
    assert_eq!((paused.progress.watermark.early_ppb, paused.late), (0, Late::Stay));
}

#[test]
fn a_line_that_was_lost_goes_on_from_its_ceiling() {
    let mut progress = Progress { people: 10_000, ..Progress::default() };
    for second in 1..=20 {
        progress = advance(&progress, &flow(OPENS + second * 1000)).unwrap().progress;
    }
    let restored = Progress::restored(Some(ceiling(&progress, 100)), progress.people, 0, OPENS + 21_000, 0);
    assert_eq!(admitted(&restored), 3_000, "not below what anybody was told, and ten seconds beyond at most");
    let lost = Flow { people: 3, ..flow(OPENS + 22_000) };
    assert_eq!(admitted(&advance(&restored, &lost).unwrap().progress), 3_100, "people are not counted anew");
}

#[test]
fn late_ones_whom_redis_forgot_are_admitted_as_fast_as_they_came() {
    let watermark = Watermark { early_ppb: WHOLE_PPB, late_s: OPENS / 1000 + 5, late_ppb: 0 };
    let mut progress = Progress::restored(Some(watermark), 10_000, 0, OPENS + 20_000, 0);
    for second in 21..=36 {
        let Advance { progress: next, late } = advance(&progress, &flow(OPENS + second * 1000)).unwrap();
        assert_eq!(late, Late::Until(OPENS / 1000 + 5 + second - 20));
        progress = next;
    }
    assert_eq!(advance(&progress, &Flow { late_waiting: 2, ..flow(OPENS + 37_000) }).unwrap().late, Late::More(2));
}

/// Polling every 1.9 seconds: late users do not pass more slowly than they came.
#[test]
fn forgotten_seconds_pass_as_fast_as_they_came_however_often_somebody_looks() {
    let watermark = Watermark { early_ppb: WHOLE_PPB, late_s: OPENS / 1000 + 5, late_ppb: 0 };
    let mut progress = Progress::restored(Some(watermark), 10_000, 0, OPENS + 120_000, 0);
    for look in 1..=20 {
        progress = advance(&progress, &flow(OPENS + 120_000 + look * 1_900)).unwrap().progress;
    }
    assert_eq!(progress.watermark.late_s, OPENS / 1000 + 5 + 38);
    let paused = advance(&progress, &Flow { per_s: 0, ..flow(OPENS + 160_000) }).unwrap().progress;
    assert_eq!(paused.watermark, progress.watermark);
}

#[test]
fn time_in_which_it_could_not_move_is_not_made_up_for() {
    let mut progress = advance(&Progress::default(), &Flow { taken: 5, ..flow(OPENS + 1_000) }).unwrap().progress;
    let before = progress;
    assert_eq!(stand(&progress, &flow(OPENS + 1_999)), None, "it is not time");
    for second in 2..=30 {
        // The units are unknown.
        progress = stand(&progress, &Flow { free: 0, people: 0, ..flow(OPENS + second * 1000) }).unwrap();
    }
    assert_eq!((progress.watermark, progress.people, progress.taken), (before.watermark, 10_000, 5));
    assert!((1..before.waited_for).contains(&progress.waited_for), "who was admitted still runs out of time");
    assert_eq!(admitted(&advance(&progress, &flow(OPENS + 31_000)).unwrap().progress), 200);
}

#[test]
fn a_line_of_which_nothing_is_known_may_not_move() {
    assert_eq!(ceiling(&Progress::default(), 100), Watermark::default());
    let all_in = Watermark { early_ppb: WHOLE_PPB, ..Watermark::default() };
    assert_eq!(ceiling(&Progress { watermark: all_in, ..Progress::default() }, 100), all_in);
}

#[test]
fn a_line_that_was_lost_before_it_moved_knows_its_people() {
    let lost = Progress::restored(None, 10_000, 3, OPENS + 1_000, 0);
    let Advance { progress, late } = advance(&lost, &Flow { people: 3, ..flow(OPENS + 1_000) }).unwrap();
    assert_eq!((admitted(&progress), progress.people, late), (100, 10_000, Late::Stay));
    assert_eq!(progress.unknown_until_s, OPENS / 1000 + 2, "late ones may be forgotten as well");
    let fresh = Progress::restored(None, 10_000, 10_000, OPENS + 1_000, 0);
    assert_eq!(fresh, Progress { people: 10_000, ..Progress::default() }, "nothing is lost");
}

fn same_each_time() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(17), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(same_each_time())]

    /// The line never moves back, never faster than its rate, and not beyond the ceiling within ten seconds.
    #[test]
    fn it_never_moves_back(
        steps in prop::collection::vec((0_u64..15_000, 0_u64..3_000_000, 0_u64..5_000, 0_u64..3, 0_u64..100_000), 1..40),
    ) {
        let mut progress = Progress::default();
        let mut now_ms = OPENS;
        for (later_ms, people, free, pace, taken) in steps {
            now_ms += later_ms;
            let per_s = pace * 500;
            let flow = Flow { now_ms, people, free, taken, may_return: taken / 2, per_s, late_waiting: 7, ..flow(now_ms) };
            let Some(Advance { progress: next, late }) = advance(&progress, &flow) else { continue };
            prop_assert!(next.watermark >= progress.watermark && next.people >= progress.people);
            prop_assert!(matches!(late, Late::Stay | Late::More(..=7)), "{late:?}");
            prop_assert_eq!(next.to_string().parse::<Progress>().unwrap(), next);
            let risen = u128::from(next.watermark.early_ppb - progress.watermark.early_ppb) * u128::from(next.people);
            let most = u128::from(per_s) * 2 * u128::from(WHOLE_PPB) + 2 * u128::from(WHOLE_PPB);
            prop_assert!(risen <= most + u128::from(next.people), "{risen} {most}");
            prop_assert!(next.carry < 1_000_000 * next.people.max(1));
            prop_assert!(ceiling(&next, per_s) >= next.watermark);
            progress = next;
        }
    }
}
