/// How often a user may ask for something, as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePolicy {
    /// Letters, digits, `-` and `_`.
    pub name: &'static str,
    pub quota: u32,
    pub window_s: u32,
}

#[cfg(test)]
mod tests {
    use crate::{Code, Problem, RatePolicy};

    #[test]
    fn who_asks_too_often_hears_how_often_and_when_again() {
        let policy = RatePolicy { name: "challenge", quota: 20, window_s: 60 };
        for (ms, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (2999, "3")] {
            let response = Problem::rate_limited(Some(policy), ms).into_response();
            assert_eq!(response.status(), Code::RateLimited.status());
            let header = |name: &str| response.headers()[name].to_str().unwrap();
            assert_eq!(header("retry-after"), seconds);
            assert_eq!(header("ratelimit-policy"), r#""challenge";q=20;w=60"#);
            assert_eq!(header("ratelimit"), format!(r#""challenge";r=0;t={seconds}"#));
        }
    }

    #[test]
    fn what_holds_for_others_is_not_told() {
        let response = Problem::rate_limited(None, 1).into_response();
        assert_eq!(response.headers()["retry-after"], "1");
        assert!(["ratelimit", "ratelimit-policy"].iter().all(|name| !response.headers().contains_key(*name)));
    }
}
