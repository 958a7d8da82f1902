//! The report as a self-contained HTML file without scripts.

use std::fmt::Write;

use anyhow::Result;
use hdrhistogram::Histogram;
use plotters::style::RGBColor;

use crate::answer::Answer;
use crate::outcome::{Second, quantile_ms};
use crate::plot::{self, Area, COLORS, Drawn};
use crate::report::{Report, gate};

/// The size of a plot on a phone, and on a larger screen.
const NARROW: (u32, u32) = (360, 280);
const WIDE: (u32, u32) = (900, 360);
const STYLE: &str = "
:root{color-scheme:light}
body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:0 auto;padding:1rem;max-width:56rem}
h1{font-size:1.5rem;margin:0 0 .5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin:1rem 0}
dt{color:#555;font-size:.85rem}dd{margin:0;font-size:1.15rem;overflow-wrap:anywhere}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}
th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}
.bad{background:#fdecea;border-left:4px solid #be1e3c;padding:.5rem 1rem}
svg{width:100%;height:auto;display:block}.wide{display:none}
@media(min-width:44rem){.wide{display:block}.narrow{display:none}}
ul.key{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.25rem 0}
ul.key svg{display:inline;width:36px;height:12px;margin-right:.4em;vertical-align:-.1em}
";

pub(crate) fn html(report: &Report) -> Result<String> {
    let outcome = &report.outcome;
    let by_answer = outcome.by_answer();
    let drawn = &by_answer[..by_answer.len().min(COLORS.len())];

    let mut page = String::new();
    let title = format!("Load on {}", report.url);
    write!(
        page,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{0}</title><style>{STYLE}</style><h1>{0}</h1>",
        escaped(&title)
    )?;
    if let Some(stopped) = outcome.stopped {
        write!(page, "<p class=bad>{}</p>", stopped.reason())?;
    }
    facts(&mut page, report)?;

    page.push_str("<h2>Answers a second</h2>");
    key(&mut page, &by_answer)?;
    plots(&mut page, &|area| per_second(report, drawn, area))?;

    page.push_str("<h2>Latency by answer</h2><p>Counted from the moment at which a request was due.</p>");
    key(&mut page, &by_answer)?;
    plots(&mut page, &|area| latency(drawn, area))?;

    page.push_str("<h2>Latency over time</h2>");
    key_of(&mut page, ["p50", "p99"].into_iter().map(str::to_owned))?;
    plots(&mut page, &|area| over_time(report, area))?;

    answers(&mut page, report)?;
    Ok(page)
}

fn facts(page: &mut String, report: &Report) -> Result<()> {
    let (outcome, plan) = (&report.outcome, &report.plan);
    let ms = |histogram: &Histogram<u64>, quantile| format!("{:.1} ms", quantile_ms(histogram, quantile));
    let curve = format!("{:?}", plan.curve).to_lowercase();
    let mut facts = vec![
        ("began", report.began.strftime("%F %T UTC").to_string()),
        ("users", format!("{} in {:.0} s, {curve}", outcome.users, plan.over().as_secs_f64())),
        ("requests", outcome.sent.to_string()),
        ("answers a second", format!("{:.0}", outcome.per_s())),
        ("in the busiest second", outcome.peak_per_s().to_string()),
        ("errors", outcome.errors.to_string()),
        ("not waited for", (outcome.sent - outcome.answered()).to_string()),
        ("latency, p50", ms(&outcome.latency_us, 0.5)),
        ("latency, p99", ms(&outcome.latency_us, 0.99)),
        ("sent too late, p99", ms(&outcome.behind_us, 0.99)),
    ];
    facts.extend(report.settings.iter().cloned());
    page.push_str("<dl>");
    for (name, value) in facts {
        write!(page, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(&value))?;
    }
    page.push_str("</dl>");
    for line in gate(&outcome.gate) {
        write!(page, "<p>{}.</p>", escaped(&line))?;
    }
    Ok(())
}

fn answers(page: &mut String, report: &Report) -> Result<()> {
    page.push_str(
        "<h2>All answers</h2><div class=scroll><table><tr><th>step<th>answer<th>count<th>p50 ms<th>p90 ms<th>p99 ms\
         <th>max ms</tr>",
    );
    for ((step, answer), latency_us) in &report.outcome.answers {
        let (step, answer) = (escaped(step), escaped(&answer.to_string()));
        write!(page, "<tr><td>{step}<td>{answer}<td>{}", latency_us.len())?;
        for quantile in [0.5, 0.9, 0.99, 1.0] {
            write!(page, "<td>{:.1}", quantile_ms(latency_us, quantile))?;
        }
        page.push_str("</tr>");
    }
    page.push_str("</table></div>");
    for (code, seen) in &report.outcome.failures {
        write!(page, "<p>{code}: {} ×, such as: {}</p>", seen.count, escaped(&seen.example))?;
    }
    Ok(())
}

fn per_second(report: &Report, by_answer: &[(Answer, Histogram<u64>)], area: &Area<'_>) -> Drawn {
    let seconds = &report.outcome.seconds;
    let line = |(answer, _): &(Answer, _)| {
        let count = |second: &Second| second.answers.get(answer).map_or(0.0, |count| *count as f64);
        let points = seconds.iter().enumerate().map(|(at, second)| (at as f64, count(second)));
        (answer.to_string(), points.collect())
    };
    let lines: Vec<_> = by_answer.iter().map(line).collect();
    plot::lines(area, ["", "s", "answers a second"], &lines, &whole_second, None)
}

/// Quantiles on the horizontal axis, and their latency on the vertical one.
fn latency(by_answer: &[(Answer, Histogram<u64>)], area: &Area<'_>) -> Drawn {
    // Each step to the right is a tenth of the rest: 0 %, 90 %, 99 %, 99.9 %.
    let steps = (0..=12).map(|step| f64::from(step) / 4.0);
    let line = |(answer, latency_us): &(Answer, Histogram<u64>)| {
        let at = |step: f64| quantile_ms(latency_us, 1.0 - 0.1_f64.powf(step));
        (answer.to_string(), steps.clone().map(|step| (step, at(step))).collect())
    };
    let label = |step: &f64| {
        if step.fract() > 1e-6 { String::new() } else { format!("{} %", ["0", "90", "99", "99.9"][*step as usize % 4]) }
    };
    let lines: Vec<_> = by_answer.iter().map(line).collect();
    plot::lines(area, ["", "part of the answers", "ms at most"], &lines, &label, None)
}

fn over_time(report: &Report, area: &Area<'_>) -> Drawn {
    let seconds = report.outcome.seconds.iter().enumerate();
    let points = |of: fn(&Second) -> Option<f64>| {
        seconds.clone().filter_map(|(at, second)| Some((at as f64, of(second)?))).collect()
    };
    let lines =
        [("p50".to_owned(), points(|second| second.p50_ms)), ("p99".to_owned(), points(|second| second.p99_ms))];
    plot::lines(area, ["", "s", "ms"], &lines, &whole_second, None)
}

/// A short run has fractions of a second on its axis, which would have the same labels as whole ones.
fn whole_second(second: &f64) -> String {
    if second.fract() > 1e-6 { String::new() } else { format!("{second:.0}") }
}

fn key(page: &mut String, by_answer: &[(Answer, Histogram<u64>)]) -> Result<()> {
    key_of(page, by_answer.iter().map(|(answer, latency)| format!("{answer} ({})", latency.len())))
}

/// The legend: first what is drawn, then what is not.
fn key_of(page: &mut String, names: impl Iterator<Item = String>) -> Result<()> {
    page.push_str("<ul class=key>");
    for (n, name) in names.enumerate() {
        let name = escaped(&name);
        match COLORS.get(n) {
            Some(color) => write!(page, "<li>{}{name}</li>", sample(*color))?,
            None => write!(page, "<li>{name}, not drawn</li>")?,
        }
    }
    page.push_str("</ul>");
    Ok(())
}

/// A piece of a line, as in the plot.
fn sample(RGBColor(red, green, blue): RGBColor) -> String {
    format!(
        "<svg viewBox=\"0 0 36 12\" aria-hidden=true style=\"color:rgb({red},{green},{blue})\" stroke=currentColor>\
         <path d=\"M0 6h36\" stroke-width=2 /><circle cx=18 cy=6 r=3 fill=currentColor /></svg>"
    )
}

/// Each plot in two sizes: shrunk letters would be unreadable on a phone.
fn plots(page: &mut String, draw: &dyn Fn(&Area<'_>) -> Drawn) -> Result<()> {
    for (class, size) in [("narrow", NARROW), ("wide", WIDE)] {
        write!(page, "<div class={class}>{}</div>", plot::svg(size, draw)?)?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;
    use crate::curve::Curve;
    use crate::outcome::Gate;
    use crate::plan::Plan;
    use crate::progress::ProgressLine;
    use crate::report::tests::sample;
    use crate::run::run;

    #[tokio::test]
    async fn the_page_has_every_answer_and_needs_nothing_else() {
        let mut report = sample().await;
        report.outcome.gate = Gate { came: 20, passed: 17, ..Gate::default() };
        let page = html(&report).unwrap();
        let gate = "17 of 20 users got through the gate";
        for part in ["409 sold_out", "202", "timeout", "<svg", "99.9 %", "&lt;lamp&gt;", "answers a second", gate] {
            assert!(page.contains(part), "no {part}");
        }
        for part in ["<script", "<link", "src=", "href=", "@import", "<lamp>"] {
            assert!(!page.contains(part), "{part}");
        }
        assert_eq!(page.matches("<svg width").count(), 6);
    }

    #[test]
    fn only_whole_seconds_are_named() {
        assert_eq!([0.0, 0.5, 1.0, 1.5, 12.0].map(|second| whole_second(&second)), ["0", "", "1", "", "12"]);
    }

    #[tokio::test]
    async fn however_many_answers_there_are_each_is_in_the_key_and_looks_like_no_other() {
        let plan = Plan::new(60, Duration::ZERO, Curve::Even).unwrap();
        let answer = |n| async move { Answer::read(400 + (n % 30) as u16, br#"{"code":"a_code"}"#) };
        let outcome = run(&plan, ProgressLine::silent(), answer).await;
        let page = html(&Report { plan, outcome, ..sample().await }).unwrap();
        let keys: Vec<&str> =
            page.split("<ul class=key>").skip(1).map(|rest| rest.split("</ul>").next().unwrap()).collect();
        assert_eq!(keys.len(), 3);
        for key in &keys[..2] {
            let mut samples = BTreeSet::new();
            for status in 400..430 {
                let entry = key.split("<li>").find(|entry| entry.contains(&format!("{status} a_code (2)")));
                let entry = entry.unwrap_or_else(|| panic!("no {status}: {key}"));
                if let Some((_, sample)) = entry.split_once("<svg") {
                    assert!(
                        samples.insert(sample.split("</svg>").next().unwrap()),
                        "{status} looks like another: {entry}"
                    );
                } else {
                    assert!(entry.contains("not drawn"), "{entry}");
                }
            }
            assert_eq!(samples.len(), COLORS.len());
        }
    }
}
