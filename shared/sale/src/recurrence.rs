use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use crate::EpochMs;

/// How many days ahead the next window is looked for: long enough for a schedule that did not run for a year.
const MAX_DAYS: i32 = 400;

/// How a sale recurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawRecurrence", into = "RawRecurrence")]
pub struct Recurrence {
    time_zone: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRecurrence {
    every: Every,
    time_zone: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Every {
    Day,
}

/// Not a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("time_zone must be a name of the IANA time zone database, such as Europe/Berlin")]
pub struct UnknownTimeZone;

/// A round would still be running when the next one opens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("closes_at: the round would still run when the next one opens, at {next_opens_at}")]
pub struct Overlap {
    /// When the next round opens: the first such opening.
    pub next_opens_at: EpochMs,
}

impl TryFrom<RawRecurrence> for Recurrence {
    type Error = UnknownTimeZone;
    fn try_from(raw: RawRecurrence) -> Result<Self, UnknownTimeZone> {
        Self::daily(&raw.time_zone)
    }
}

impl From<Recurrence> for RawRecurrence {
    fn from(recurrence: Recurrence) -> Self {
        Self { every: Every::Day, time_zone: recurrence.time_zone }
    }
}

impl Recurrence {
    /// Recurs every calendar day at the same time of day in `time_zone`.
    ///
    /// # Errors
    /// [`UnknownTimeZone`] if the database does not have it.
    pub fn daily(time_zone: &str) -> Result<Self, UnknownTimeZone> {
        TimeZone::get(time_zone).map_err(|_| UnknownTimeZone)?;
        Ok(Self { time_zone: time_zone.to_owned() })
    }

    /// Checks for more than a year that each window ends `lead_s` seconds before the next one opens: days on which
    /// clocks go forward are shorter. The payment window does not count, since late messages of one round do not affect
    /// the next one.
    ///
    /// # Errors
    /// The first window that does not.
    pub fn keeps_apart(&self, opens: EpochMs, closes: EpochMs, lead_s: u32) -> Result<(), Overlap> {
        let mut window = (opens, closes);
        for _ in 0..MAX_DAYS {
            let Some(next) = self.next_window(window.0, window.1, window.0) else { return Ok(()) };
            let next_opens_at = next.0.minus_s(lead_s);
            if next_opens_at < window.1 {
                return Err(Overlap { next_opens_at });
            }
            window = next;
        }
        Ok(())
    }

    /// The first window after `opens..closes` that is not over at `now`: the same times of day on a later calendar day.
    ///
    /// A time of day that is skipped when clocks go forward moves later by as much; a time that occurs twice when
    /// clocks go back means the first one (RFC 5545, section 3.3.5). `None` if there is no window within a year.
    pub fn next_window(&self, opens: EpochMs, closes: EpochMs, now: EpochMs) -> Option<(EpochMs, EpochMs)> {
        let zone = TimeZone::get(&self.time_zone).ok()?;
        let (opens, closes) = (Timestamp::from(opens).to_zoned(zone.clone()), Timestamp::from(closes).to_zoned(zone));
        (1..=MAX_DAYS).find_map(|days| {
            let opens = EpochMs::from(opens.checked_add(days.days()).ok()?.timestamp());
            let closes = EpochMs::from(closes.checked_add(days.days()).ok()?.timestamp());
            (closes > now && opens < closes).then_some((opens, closes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> EpochMs {
        text.parse::<Timestamp>().unwrap().into()
    }

    fn next(opens: &str, closes: &str, now: &str) -> (String, String) {
        let berlin = Recurrence::daily("Europe/Berlin").unwrap();
        let (opens, closes) = berlin.next_window(at(opens), at(closes), at(now)).unwrap();
        (opens.to_string(), closes.to_string())
    }

    fn window(opens: &str, closes: &str) -> (String, String) {
        (at(opens).to_string(), at(closes).to_string())
    }

    #[test]
    fn the_next_day_at_the_same_time() {
        let found = next("2026-07-01T08:00:00Z", "2026-07-01T10:00:00Z", "2026-07-01T22:00:00Z");
        assert_eq!(found, window("2026-07-02T08:00:00Z", "2026-07-02T10:00:00Z"));
    }

    #[test]
    fn a_day_of_23_hours() {
        // 2026-03-29: clocks go from 2:00 to 3:00. 10:00 in Berlin is 9:00 UTC before and 8:00 UTC after.
        let found = next("2026-03-28T09:00:00Z", "2026-03-28T11:00:00Z", "2026-03-28T12:00:00Z");
        assert_eq!(found, window("2026-03-29T08:00:00Z", "2026-03-29T10:00:00Z"));
        // 2:30 does not exist on that day: 3:30, which is 1:30 UTC.
        let found = next("2026-03-28T01:30:00Z", "2026-03-28T04:00:00Z", "2026-03-28T12:00:00Z");
        assert_eq!(found, window("2026-03-29T01:30:00Z", "2026-03-29T03:00:00Z"));
    }

    #[test]
    fn a_day_of_25_hours() {
        // 2026-10-25: clocks go from 3:00 to 2:00. 10:00 in Berlin is 8:00 UTC before and 9:00 UTC after.
        let found = next("2026-10-24T08:00:00Z", "2026-10-24T10:00:00Z", "2026-10-24T12:00:00Z");
        assert_eq!(found, window("2026-10-25T09:00:00Z", "2026-10-25T11:00:00Z"));
        // 2:30 comes twice on that day: the first of them, 0:30 UTC.
        let found = next("2026-10-24T00:30:00Z", "2026-10-24T06:00:00Z", "2026-10-24T12:00:00Z");
        assert_eq!(found.0, at("2026-10-25T00:30:00Z").to_string());
    }

    #[test]
    fn days_that_were_missed_are_skipped() {
        let found = next("2026-07-01T08:00:00Z", "2026-07-01T10:00:00Z", "2026-07-04T09:00:00Z");
        assert_eq!(found, window("2026-07-04T08:00:00Z", "2026-07-04T10:00:00Z"));
        let found = next("2026-07-01T08:00:00Z", "2026-07-01T10:00:00Z", "2026-07-04T10:00:00Z");
        assert_eq!(found, window("2026-07-05T08:00:00Z", "2026-07-05T10:00:00Z"), "one that ends now is over");
    }

    #[test]
    fn windows_that_would_overlap_are_found() {
        let berlin = Recurrence::daily("Europe/Berlin").unwrap();
        let first = |opens: &str, closes: &str| {
            berlin.keeps_apart(at(opens), at(closes), 0).err().map(|overlap| overlap.next_opens_at.to_string())
        };
        // Exactly a whole day, whatever its length.
        assert_eq!(first("2026-07-01T08:00:00Z", "2026-07-02T08:00:00Z"), None);
        let next = Some(at("2026-07-02T08:00:00Z").to_string());
        assert_eq!(first("2026-07-01T08:00:00Z", "2026-07-02T08:00:01Z"), next);
        assert_eq!(first("2026-07-01T08:00:00Z", "2026-07-02T09:00:00Z"), next);
        assert_eq!(first("2026-07-01T08:00:00Z", "2026-07-03T07:00:00Z"), next, "two days");
        // 3:00 to 2:45: on 2027-03-28 there is no 2:45, which is taken as 3:45.
        let opens_too_soon = Some(at("2027-03-28T01:00:00Z").to_string());
        assert_eq!(first("2026-07-01T01:00:00Z", "2026-07-02T00:45:00Z"), opens_too_soon);
        // A day of 25 hours is not too long for a window; one hour more is, and so are 24 hours that begin on a day of
        // 23.
        assert_eq!(first("2026-10-24T08:00:00Z", "2026-10-25T09:00:00Z"), None);
        assert_eq!(first("2026-10-24T08:00:00Z", "2026-10-25T10:00:00Z"), Some(at("2026-10-25T09:00:00Z").to_string()));
        assert_eq!(first("2026-03-28T09:00:00Z", "2026-03-29T09:00:00Z"), Some(at("2026-03-29T08:00:00Z").to_string()));
    }

    #[test]
    fn who_buys_early_does_so_after_the_round_before() {
        let berlin = Recurrence::daily("Europe/Berlin").unwrap();
        let (opens, closes) = (at("2026-07-01T08:00:00Z"), at("2026-07-02T07:00:00Z"));
        // The shortest day is an hour shorter: 2027-03-28.
        assert_eq!(berlin.keeps_apart(opens, closes, 0), Ok(()));
        assert_eq!(
            berlin.keeps_apart(opens, closes, 3601).map_err(|overlap| overlap.next_opens_at.to_string()),
            Err("2026-07-02T06:59:59.000Z".to_owned())
        );
        assert_eq!(berlin.keeps_apart(opens, closes, 3600), Ok(()), "at 9:00 in Berlin each");
    }

    #[test]
    fn time_zones_have_names() {
        assert_eq!(Recurrence::daily("Atlantis/Capital"), Err(UnknownTimeZone));
        let json = r#"{"every":"day","time_zone":"Asia/Shanghai"}"#;
        let read: Recurrence = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
    }
}
