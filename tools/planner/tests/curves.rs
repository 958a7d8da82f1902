//! The formulas of the arrival model, against numerical results.

use planner::curves::{Rush, exponential_integral, tickets_within};

/// Against the integral itself, by the midpoint rule.
#[test]
fn the_exponential_integral_is_the_integral() {
    for x in [0.001_f64, 0.05, 0.5, 1.0, 1.5, 5.0] {
        // With t = x·exp(s) it is the integral of exp(−x·exp(s)).
        let step = 1e-4;
        let sum: f64 = (0..200_000).map(|n| (-x * ((f64::from(n) + 0.5) * step).exp()).exp() * step).sum();
        assert!((exponential_integral(x) - sum).abs() < 1e-4, "{x}: {} {sum}", exponential_integral(x));
    }
}

#[test]
fn the_fullest_second_is_the_fullest() {
    for (rates, weights) in
        [((0.2, 0.2), (1.2, 2.3)), ((0.1, 1.0), (1.0, 5.0)), ((1.0, 0.1), (0.0, 1.0)), ((0.5, 0.2), (3.0, 0.1))]
    {
        let rush = Rush::at(1e4, rates.0, rates.1);
        for until_s in [Some(0.5), Some(3.0), Some(40.0), None] {
            let end = until_s.unwrap_or(100.0);
            let all = |at_s: f64| weights.0 * rush.press(at_s) + weights.1 * rush.answer(at_s);
            let seen = (0..=10_000).map(|n| all(end * f64::from(n) / 1e4)).fold(0.0, f64::max);
            let fullest = rush.fullest(until_s, weights.0, weights.1);
            assert!((fullest / seen - 1.0).abs() < 1e-3, "{rates:?} {weights:?} {until_s:?}: {fullest} {seen}");
        }
    }
}

#[test]
fn all_tickets_come_before_the_opening() {
    assert!((tickets_within(1e4, 600.0) - 1.0).abs() < 1e-6);
    let last = tickets_within(1.0, 600.0);
    assert!((0.011..0.012).contains(&last), "{last}");
}
