use std::time::Instant;

use stock::Lease;

use crate::prelude::*;

#[tokio::test]
async fn no_second_has_more_than_its_share() {
    let round = TestRound::start_empty();
    let lease = async |step: &str| round.stock().lease(step, 10, 4).await.unwrap();
    let (mut counts, mut second, mut last) = (Vec::new(), Duration::ZERO, Instant::now());
    // A lease says how much of its second is left. A new second has begun if that grows, or if a machine stood still for one.
    loop {
        let asked = Instant::now();
        let Lease { count, holds_for } = lease("reserve").await;
        assert!(holds_for > Duration::ZERO && holds_for <= Duration::from_secs(1));
        if holds_for > second || last.elapsed() >= Duration::from_secs(1) {
            counts.push(0);
        }
        (second, last) = (holds_for, asked);
        *counts.last_mut().unwrap() += count;
        assert!(counts.iter().all(|count| *count <= 10), "{counts:?}");
        // Until a second is over that gave its share.
        if counts.iter().rev().skip(1).any(|count| *count == 10) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(lease("token").await.count, 4, "each step has its own count");
}
