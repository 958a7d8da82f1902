//! Users who ask too often.

use gate::Route;

use crate::green_channel::expedite;
use crate::prelude::*;

/// Each is counted by itself: those before it are refused by then.
#[tokio::test]
async fn each_route_has_a_limit_for_each_user() {
    let lab = Lab::selling(terms(50, 1)).await;
    let alice = lab.buy("alice").await;
    let (deps, catalog) = (lab.reservation(), lab.catalog());
    for (route, ask) in [
        (Route::Reserve, Ask::reserve(SALE, "alice")),
        (Route::Poll, Ask::status(&alice)),
        (Route::Expedite, expedite(&alice.id, "alice")),
        (Route::Orders, Ask::get("/v1/orders").by("alice")),
        (Route::Members, Ask::get("/v1/members/sales").by("alice")),
        (Route::Cancel, Ask::cancel(&alice)),
    ] {
        let answer =
            async || if route == Route::Members { catalog.answer(&ask).await } else { deps.answer(&ask).await };
        let burst = route.limits().per_user.burst;
        let began = Instant::now();
        // Whoever cancels first does it alone.
        let mut answers = vec![answer().await];
        // At once: one by one, a limit refills faster than a busy machine answers.
        while answers.iter().all(|answer| answer.status != 429) {
            answers.extend(join_all((0..2 * burst).map(|_| answer())).await);
        }
        // The slower the machine, the more of the limit refills meanwhile.
        let refilled = began.elapsed().as_micros() / u128::from(route.limits().per_user.interval_us());
        let most = burst as usize + 1 + usize::try_from(refilled).unwrap();
        let (mut refused, answered): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 429);
        assert!(answered.iter().all(|answer| matches!(answer.status, 200 | 409)), "{answered:?}");
        assert!((burst as usize..=most).contains(&answered.len()), "{route:?}: {}, at most {most}", answered.len());
        let refused = refused.remove(0).problem(429, "rate_limited");
        assert!(refused.header("retry-after").parse::<u32>().unwrap() >= 1);
        assert!(refused.header("ratelimit-policy").contains(&format!("q={burst}")), "{refused:?}");
    }
    let (answer, calls) = redis_calls(&lab.valkey.url(), deps.answer(&Ask::reserve(SALE, "alice"))).await;
    if answer.status == 429 {
        assert_eq!(calls, [""; 0]);
    }
    deps.answer(&Ask::reserve(SALE, "bob")).await.expect(202);
    catalog.answer(&Ask::get("/v1/members/sales").by("bob")).await.expect(200);
}

#[tokio::test]
async fn an_address_has_a_limit_for_all_of_its_users() {
    let lab = Lab::selling(terms(5, 1)).await;
    let deps = lab.reservation();
    let look = |n: usize, from: &str| expedite(fresh_id(&round(SALE, 1)), &format!("user-{n}")).coming_from(from);
    let burst = Route::Expedite.limits().per_ip.burst as usize;
    let asks: Vec<Ask> = (0..2 * burst).map(|n| look(n, "192.0.2.1")).collect();
    let answers = join_all(asks.iter().map(|ask| deps.answer(ask))).await;
    answers.into_iter().find(|answer| answer.status == 429).expect("a limit").problem(429, "rate_limited");
    deps.answer(&look(0, "192.0.2.2")).await.problem(404, "unknown_reservation");
}
