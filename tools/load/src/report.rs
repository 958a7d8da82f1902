//! The report of a run, for people and as JSON.

use std::fmt;

use command_line::of_these;
use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::outcome::{Gate, Outcome, Stopped, quantile_ms};
use crate::plan::Plan;

#[derive(Debug, Clone)]
pub struct Report {
    pub url: String,
    /// Further settings: names and values.
    pub settings: Vec<(&'static str, String)>,
    pub began: jiff::Timestamp,
    pub plan: Plan,
    pub outcome: Outcome,
}

impl Report {
    pub fn to_json(&self) -> Value {
        let Self { outcome, .. } = self;
        let settings: serde_json::Map<_, _> =
            self.settings.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let answers = outcome.answers.iter().map(|((step, answer), latency_us)| {
            json!({
                "step": step,
                "status": answer.status,
                "code": answer.code,
                "count": latency_us.len(),
                "latency_ms": latency(latency_us),
            })
        });
        let seconds = outcome.seconds.iter().map(|second| {
            let answers = second.answers.iter().map(|(answer, count)| (answer.to_string(), json!(count)));
            json!({
                "sent": second.sent,
                "answered": second.answered(),
                "errors": second.errors,
                "answers": answers.collect::<serde_json::Map<_, _>>(),
                "p50_ms": second.p50_ms,
                "p99_ms": second.p99_ms,
            })
        });
        json!({
            "url": self.url,
            "began": self.began.to_string(),
            "plan": self.plan,
            "settings": settings,
            "users": outcome.users,
            "took_s": rounded(outcome.took.as_secs_f64()),
            "stopped": outcome.stopped,
            "requests": {
                "sent": outcome.sent,
                "answered": outcome.answered(),
                "unanswered": outcome.sent - outcome.answered(),
                "errors": outcome.errors,
                "per_s": rounded(outcome.per_s()),
                "peak_per_s": outcome.peak_per_s(),
                "latency_ms": latency(&outcome.latency_us),
            },
            "gate": {
                "came": outcome.gate.came,
                "passed": outcome.gate.passed,
                "refused": outcome.gate.refused,
                "unfinished": outcome.gate.unfinished(),
                "only_proofs_s": rounded(outcome.gate.alone.as_secs_f64()),
            },
            "behind_ms": latency(&outcome.behind_us),
            "answers": answers.collect::<Vec<_>>(),
            "failures": outcome.failures,
            "seconds": seconds.collect::<Vec<_>>(),
        })
    }
}

impl Stopped {
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Errors => "stopped early: too many of the answers were errors",
            Self::Failed => "failed: too many of the answers were errors",
            Self::Interrupted => "interrupted: nothing more was sent",
            Self::Patience => "stopped early: some users had not finished long after the last one came",
        }
    }
}

/// What there is to say about the gate.
pub(crate) fn gate(gate: &Gate) -> Vec<String> {
    let mut lines = Vec::new();
    if gate.came > 0 {
        let mut parts = vec![format!("{} of {} got through the gate", gate.passed, of_these(gate.came, "user"))];
        let others = [
            (gate.refused, "got no pass, as the answers to challenge and token say"),
            (gate.unfinished(), "had not finished when the run ended"),
        ];
        parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")));
        lines.push(parts.join("; "));
    }
    let alone_s = gate.alone.as_secs_f64();
    if alone_s >= 0.05 {
        lines.push(format!(
            "{alone_s:.1} s of the run only computed proofs of work on this machine, and do not count for answers/s"
        ));
    }
    lines
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn latency(latency_us: &Histogram<u64>) -> Value {
    let ms = |quantile| rounded(quantile_ms(latency_us, quantile));
    json!({ "p50": ms(0.5), "p90": ms(0.9), "p99": ms(0.99), "p99_9": ms(0.999), "max": ms(1.0) })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { outcome, .. } = self;
        if let Some(stopped) = outcome.stopped {
            writeln!(f, "  {}\n", stopped.reason())?;
        }
        writeln!(
            f,
            "  {:<10} {:<28} {:>9} {:>9} {:>9} {:>9}",
            "step", "answer", "count", "p50 ms", "p99 ms", "max ms"
        )?;
        for ((step, answer), latency_us) in &outcome.answers {
            let [p50, p99, max] = [0.5, 0.99, 1.0].map(|quantile| quantile_ms(latency_us, quantile));
            let (answer, count) = (answer.to_string(), latency_us.len());
            writeln!(f, "  {step:<10} {answer:<28} {count:>9} {p50:>9.1} {p99:>9.1} {max:>9.1}")?;
        }
        for (code, seen) in &outcome.failures {
            writeln!(f, "  {code}: {} ×, such as: {}", seen.count, seen.example)?;
        }
        let took_s = outcome.took.as_secs_f64();
        let (requests, users) = (of_these(outcome.sent, "request"), of_these(outcome.users as u64, "user"));
        writeln!(f, "\n  {requests} of {users} in {took_s:.1} s")?;
        writeln!(f, "  {:.0} answers/s, {} in the busiest second", outcome.per_s(), outcome.peak_per_s())?;
        for line in gate(&outcome.gate) {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "  {} (500 and above, or no answer)", of_these(outcome.errors, "error"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::answer::Answer;
    use crate::curve::Curve;
    use crate::progress::ProgressLine;
    use crate::run::run;

    /// A report of a hundred requests: ten are reserved, two fail and the others get `sold_out`.
    pub(crate) async fn sample() -> Report {
        let plan = Plan::new(100, Duration::from_millis(20), Curve::Rush).unwrap();
        let outcome = run(&plan, ProgressLine::silent(), |n| async move {
            match n {
                0..10 => Answer::status(202),
                10..12 => Answer::from(&crate::answer::Failure::Timeout),
                _ => Answer::read(409, br#"{"code":"sold_out"}"#),
            }
        });
        let outcome = outcome.await;
        let (url, began) = ("http://127.0.0.1:1".to_owned(), jiff::Timestamp::UNIX_EPOCH);
        Report { url, settings: vec![("sale", "<lamp>".to_owned())], began, plan, outcome }
    }

    #[tokio::test]
    async fn all_counts_add_up() {
        let report = sample().await;
        assert_eq!((report.outcome.count(202), report.outcome.count(409)), (10, 88));
        let report = report.to_json();
        assert_eq!((&report["users"], &report["stopped"]), (&json!(100), &Value::Null));
        let sum = |list: &str, name: &str| -> u64 {
            report[list].as_array().unwrap().iter().map(|each| each[name].as_u64().unwrap()).sum()
        };
        let requests = &report["requests"];
        assert_eq!(
            (&requests["sent"], &requests["unanswered"], &requests["errors"]),
            (&json!(100), &json!(0), &json!(2))
        );
        assert_eq!((sum("answers", "count"), sum("seconds", "answered"), sum("seconds", "sent")), (100, 100, 100));
        let sold_out = report["answers"].as_array().unwrap().iter().find(|each| each["code"] == "sold_out").unwrap();
        assert_eq!((&sold_out["status"], &sold_out["count"]), (&json!(409), &json!(88)));
        assert_eq!(report["plan"], json!({ "users": 100, "over_s": 0.02, "curve": "rush", "stop_at_errors": null }));
        assert_eq!(report["settings"]["sale"], "<lamp>");
        assert!(report["behind_ms"]["p99"].is_number() && sold_out["latency_ms"]["p99_9"].is_number());
    }

    #[tokio::test]
    async fn the_gate_is_told_of_and_its_proofs_do_not_count_as_load() {
        let mut report = sample().await;
        assert!(!report.to_string().contains("gate"), "{report}");
        let outcome = &mut report.outcome;
        outcome.took = Duration::from_secs(50);
        outcome.gate = Gate { came: 20, passed: 17, refused: 1, alone: Duration::from_secs(40) };
        let text = report.to_string();
        for part in [
            "100 requests of 100 users in 50.0 s\n  10 answers/s",
            "17 of 20 users got through the gate; 1 got no pass, as the answers to challenge and token say; 2 had not finished when the run ended\n",
            "40.0 s of the run only computed proofs of work on this machine",
        ] {
            assert!(text.contains(part), "no {part}: {text}");
        }
        let gate = json!({ "came": 20, "passed": 17, "refused": 1, "unfinished": 2, "only_proofs_s": 40.0 });
        assert_eq!((&report.to_json()["gate"], &report.to_json()["requests"]["per_s"]), (&gate, &json!(10.0)));
    }

    #[tokio::test]
    async fn people_see_every_answer() {
        let text = sample().await.to_string();
        for part in ["202", "409 sold_out", "timeout", "100 requests of 100 users", "2 errors"] {
            assert!(text.contains(part), "no {part}: {text}");
        }
    }
}
