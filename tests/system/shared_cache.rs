//! What a crowd of viewers costs behind a shared cache, by the headers that the function itself sends.

use crate::catalog::shown;
use crate::prelude::*;

const VIEWERS: u64 = 10_000;
/// They arrive evenly over this many milliseconds.
const ARRIVE_WITHIN_MS: u64 = 60_000;
/// How long the function takes. Viewers who come meanwhile wait for the same answer.
const FUNCTION_MS: u64 = 100;
const PAGE: [&str; 2] = ["/v1/campaigns", "/v1/sales/lamp"];

/// How a shared cache reads `Cache-Control` (RFC 9111, RFC 5861).
#[derive(Debug, Clone, Copy)]
struct Rules {
    fresh_ms: u64,
    stale_while_revalidate_ms: u64,
}

impl Rules {
    fn of(answer: &Answer) -> Self {
        let header = answer.header("cache-control");
        assert!(header.starts_with("public"), "{header}");
        let seconds = |name: &str| {
            let value = header.split(", ").find_map(|directive| directive.strip_prefix(name)?.strip_prefix('='));
            value.map(|value| value.parse::<u64>().unwrap())
        };
        let fresh = seconds("s-maxage").or_else(|| seconds("max-age")).unwrap_or(0);
        Self {
            fresh_ms: fresh * 1000,
            stale_while_revalidate_ms: seconds("stale-while-revalidate").unwrap_or(0) * 1000,
        }
    }
}

/// One location of a shared cache that sends a single request for all viewers who wait for the same answer.
#[derive(Default)]
struct SharedCache {
    /// When each path's answer was made.
    made: HashMap<&'static str, u64>,
    calls: usize,
    oldest_ms: u64,
}

impl SharedCache {
    fn ask(&mut self, path: &'static str, rules: Rules, now: u64) {
        let age = self.made.get(path).map(|made| now.saturating_sub(*made));
        match age {
            Some(age) if age < rules.fresh_ms => self.oldest_ms = self.oldest_ms.max(age),
            Some(age) if age < rules.fresh_ms + rules.stale_while_revalidate_ms => {
                self.oldest_ms = self.oldest_ms.max(age);
                self.fetch(path, now);
            }
            _ => self.fetch(path, now),
        }
    }

    /// From here on, a viewer waits for this answer or gets it at once.
    fn fetch(&mut self, path: &'static str, now: u64) {
        self.calls += 1;
        self.made.insert(path, now + FUNCTION_MS);
    }
}

#[tokio::test]
async fn ten_thousand_viewers_cost_one_call_a_second_for_each_path() {
    let lab = Lab::selling(terms(20, 1)).await;
    let catalog = lab.catalog();
    let mut rules = HashMap::new();
    for path in PAGE {
        rules.insert(path, Rules::of(&shown(&catalog, path).await));
    }
    let mut cache = SharedCache::default();
    for viewer in 0..VIEWERS {
        for path in PAGE {
            cache.ask(path, rules[path], viewer * ARRIVE_WITHIN_MS / VIEWERS);
        }
    }
    let SharedCache { calls, oldest_ms, .. } = cache;
    println!(
        "{VIEWERS} page views of {} requests in {} s: {calls} calls of the function for each place of the cache; nothing shown was older than {oldest_ms} ms",
        PAGE.len(),
        ARRIVE_WITHIN_MS / 1000,
    );
    let seconds = (ARRIVE_WITHIN_MS / 1000) as usize;
    assert!(calls <= PAGE.len() * seconds, "{calls}");
    assert!(oldest_ms < 1000 && calls > 0);
}
