//! The deployed alarms, which the emulator lacks: read from the template, and judged by what was measured.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::stack::STACK;

/// A metric: its namespace, its name and its dimensions.
type Name = (String, String, BTreeMap<String, String>);

/// What was measured: for each metric its values, and when, in milliseconds.
#[derive(Debug, Default)]
pub struct Measured(HashMap<Name, Vec<(i64, f64)>>);

impl Measured {
    pub fn add_own(&mut self, name: &str, at_ms: i64, value: f64) {
        self.add((STACK.to_owned(), name.to_owned(), BTreeMap::new()), at_ms, value);
    }

    pub fn add_depth(&mut self, queue: &str, at_ms: i64, waiting: u64) {
        let dimensions = [("QueueName".to_owned(), queue.to_owned())].into();
        let name = ("AWS/SQS".to_owned(), "ApproximateNumberOfMessagesVisible".to_owned(), dimensions);
        self.add(name, at_ms, waiting as f64);
    }

    pub fn add_for(&mut self, alarm: &Alarm, at_ms: i64, value: f64) {
        self.add(alarm.metric.clone(), at_ms, value);
    }

    fn add(&mut self, name: Name, at_ms: i64, value: f64) {
        self.0.entry(name).or_default().push((at_ms, value));
    }

    /// Adds what a line of a function's log publishes, if it is in the embedded metric format.
    pub fn add_line(&mut self, line: &str) {
        let Some(document) = line.find('{').and_then(|at| serde_json::from_str::<Value>(&line[at..]).ok()) else {
            return;
        };
        let Some(at_ms) = document["_aws"]["Timestamp"].as_i64() else { return };
        for directive in items(&document["_aws"]["CloudWatchMetrics"]) {
            let namespace = text(&directive["Namespace"]);
            for metric in items(&directive["Metrics"]).iter().map(|metric| text(&metric["Name"])) {
                let value = &document[&metric];
                let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                for dimensions in items(&directive["Dimensions"]) {
                    let dimensions: BTreeMap<String, String> =
                        items(dimensions).iter().map(|key| (text(key), text(&document[text(key)]))).collect();
                    for value in values.iter().filter_map(Value::as_f64) {
                        self.add((namespace.clone(), metric.clone(), dimensions.clone()), at_ms, value);
                    }
                }
            }
        }
    }
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[derive(Debug, Clone)]
pub struct Alarm {
    pub name: String,
    metric: Name,
    statistic: String,
    period_ms: i64,
    periods: i64,
    pub threshold: f64,
    rings_below: bool,
    rings_without: bool,
}

impl Alarm {
    pub fn all_of(template: &Path) -> Result<Vec<Self>> {
        let template: Value = serde_json::from_str(&std::fs::read_to_string(template)?)?;
        let resources = template["Resources"].as_object().context("a template has resources")?;
        let alarms = resources.values().filter(|resource| resource["Type"] == "AWS::CloudWatch::Alarm");
        alarms.map(|alarm| Self::of(&alarm["Properties"], &template["Resources"])).collect()
    }

    fn of(alarm: &Value, resources: &Value) -> Result<Self> {
        let name = text(&alarm["AlarmName"]);
        let number = |key: &str| alarm[key].as_f64().with_context(|| format!("{name} has no {key}"));
        let (period_s, periods, threshold) = (number("Period")?, number("EvaluationPeriods")?, number("Threshold")?);
        let rings_below = match alarm["ComparisonOperator"].as_str() {
            Some("GreaterThanOrEqualToThreshold") => false,
            Some("LessThanThreshold") => true,
            other => anyhow::bail!("{name} compares: {other:?}"),
        };
        let statistic = text(&alarm["Statistic"]);
        ensure!(["Maximum", "Minimum", "Sum", "SampleCount"].contains(&&*statistic), "{name} judges by {statistic}");
        let dimensions = items(&alarm["Dimensions"]).iter();
        let dimensions = dimensions.map(|each| (text(&each["Name"]), named(&each["Value"], resources))).collect();
        Ok(Self {
            name: name.trim_start_matches(STACK).trim_start_matches('-').to_owned(),
            metric: (text(&alarm["Namespace"]), text(&alarm["MetricName"]), dimensions),
            statistic,
            period_ms: period_s as i64 * 1000,
            periods: periods as i64,
            threshold,
            rings_below,
            rings_without: alarm["TreatMissingData"] == "breaching",
        })
    }

    pub const fn looks_back_ms(&self) -> i64 {
        self.period_ms * self.periods
    }

    pub fn is_on_aws(&self) -> bool {
        self.metric.0.starts_with("AWS/")
    }

    pub fn can_be_judged(&self, measured: &Measured) -> bool {
        measured.0.contains_key(&self.metric)
    }

    /// Whether it rings at this moment: each of its periods until then is bad.
    pub fn rings(&self, measured: &Measured, now_ms: i64) -> bool {
        let all = measured.0.get(&self.metric).map_or(&[][..], Vec::as_slice);
        (0..self.periods).all(|back| {
            let until = now_ms - back * self.period_ms;
            let within = (until - self.period_ms + 1)..=until;
            let values = || all.iter().filter(|(at_ms, _)| within.contains(at_ms)).map(|(_, value)| *value);
            let found = match &*self.statistic {
                "SampleCount" => Some(values().count() as f64).filter(|count| *count > 0.0),
                "Sum" => values().reduce(|sum, value| sum + value),
                "Minimum" => values().reduce(f64::min),
                _ => values().reduce(f64::max),
            };
            found.map_or(self.rings_without, |found| (found < self.threshold) == self.rings_below)
        })
    }
}

/// The name of what a template refers to.
fn named(value: &Value, resources: &Value) -> String {
    let logical = value["Ref"].as_str().or_else(|| value["Fn::GetAtt"][0].as_str());
    let properties = logical.map(|logical| &resources[logical]["Properties"]);
    let names = ["QueueName", "FunctionName"].map(|key| properties.map(|of| text(&of[key])).unwrap_or_default());
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| text(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm(statistic: &str, periods: i64, rings_below: bool) -> Alarm {
        Alarm {
            name: "units-adrift".to_owned(),
            metric: (STACK.to_owned(), "UnitsAdrift".to_owned(), BTreeMap::new()),
            statistic: statistic.to_owned(),
            period_ms: 60_000,
            periods,
            threshold: 1.0,
            rings_below,
            rings_without: rings_below,
        }
    }

    /// Where each statistic of two minutes rings, at the end of the first minute, of the second, and of a third without values.
    #[test]
    fn an_alarm_rings_as_it_would_in_the_cloud() {
        let mut measured = Measured::default();
        for (at_s, value) in [(10, 0.0), (20, 2.0), (70, 1.0), (80, 3.0)] {
            measured.add_own("UnitsAdrift", at_s * 1000, value);
        }
        let rings = |alarm: Alarm| [60_000, 120_000, 180_000].map(|now_ms| alarm.rings(&measured, now_ms));
        assert_eq!(rings(alarm("Maximum", 1, false)), [true, true, false]);
        assert_eq!(rings(alarm("Minimum", 1, false)), [false, true, false]);
        assert_eq!(rings(alarm("Maximum", 2, false)), [false, true, false]);
        assert_eq!(rings(alarm("SampleCount", 1, true)), [false, false, true]);
    }

    #[test]
    fn what_a_function_logs_is_measured_for_each_of_its_dimensions() {
        let mut measured = Measured::default();
        measured.add_line("no metric {");
        let line = r#"{"_aws":{"Timestamp":7,"CloudWatchMetrics":[{"Namespace":"flash-sale","Dimensions":[["Round"]],"Metrics":[{"Name":"UnitsAdrift"},{"Name":"Ms"}]},{"Namespace":"flash-sale","Dimensions":[[]],"Metrics":[{"Name":"UnitsAdrift"}]}]},"Round":"lamp.1","UnitsAdrift":2,"Ms":[1,5]}"#;
        measured.add_line(line);
        let own = |name: &str, dimensions: BTreeMap<String, String>| {
            measured.0.get(&(STACK.to_owned(), name.to_owned(), dimensions)).cloned().unwrap_or_default()
        };
        let of_round: BTreeMap<String, String> = [("Round".to_owned(), "lamp.1".to_owned())].into();
        assert_eq!(own("UnitsAdrift", BTreeMap::new()), [(7, 2.0)]);
        assert_eq!(own("UnitsAdrift", of_round.clone()), [(7, 2.0)]);
        assert_eq!(own("Ms", of_round), [(7, 1.0), (7, 5.0)]);
    }
}
