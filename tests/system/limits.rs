//! Users who ask too often.

use gate::Route;

use crate::prelude::*;

#[tokio::test]
async fn each_route_has_a_limit_for_each_user() {
    let lab = Lab::selling(terms(50, 1)).await;
    let alice = lab.buy("alice").await;
    let deps = lab.reservation();
    for (route, ask) in [
        (Route::Reserve, Ask::reserve(SALE, "alice")),
        (Route::Poll, Ask::status(&alice)),
        (Route::Orders, Ask::get("/v1/orders").by("alice")),
        (Route::Cancel, Ask::cancel(&alice)),
    ] {
        let mut answers = 0;
        let began = Instant::now();
        let refused = loop {
            let answer = deps.answer(&ask).await;
            if answer.status == 429 {
                break answer;
            }
            assert!(matches!(answer.status, 200 | 409), "{answer:?}");
            answers += 1;
        };
        let burst = route.limits().per_user.burst;
        // The slower the machine, the more of the limit refills meanwhile.
        let refilled = began.elapsed().as_micros() / u128::from(route.limits().per_user.interval_us());
        let most = burst + 1 + u32::try_from(refilled).unwrap();
        assert!((burst..=most).contains(&answers), "{route:?}: {answers}, at most {most}");
        let refused = refused.problem(429, "rate_limited");
        assert!(refused.header("retry-after").parse::<u32>().unwrap() >= 1);
        assert!(refused.header("ratelimit-policy").contains(&format!("q={burst}")), "{refused:?}");
    }
    let (answer, calls) = redis_calls(&lab.valkey.url(), deps.answer(&Ask::reserve(SALE, "alice"))).await;
    if answer.status == 429 {
        assert_eq!(calls, [""; 0]);
    }
    deps.answer(&Ask::reserve(SALE, "bob")).await.expect(202);
}
