use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use crate::EpochMs;
use crate::text_serde::text_type;

/// How many days ahead the next window is looked for: long enough for a schedule that did not run for a year.
const MAX_DAYS: i32 = 400;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recurrence {
    every: Every,
    time_zone: TimeZoneName,
}

text_type!(TimeZoneName, UnknownTimeZone, UnknownTimeZone, |text| TimeZone::get(text).is_ok());

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Every {
    Day,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("time_zone must be a name of the IANA time zone database, such as Europe/Berlin")]
pub struct UnknownTimeZone;

/// A round would still be running when the next one opens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("closes_at: the round would still run when the next one opens, at {next_opens_at}")]
pub struct Overlap {
    pub next_opens_at: EpochMs,
}

impl Recurrence {
    /// Recurs every calendar day at the same time of day in `time_zone`.
    pub fn daily(time_zone: &str) -> Result<Self, UnknownTimeZone> {
        Ok(Self { every: Every::Day, time_zone: time_zone.parse()? })
    }

    pub(crate) fn hours(&self, opens: EpochMs, closes: EpochMs) -> Option<Hours> {
        let (opens, closes) = (self.civil(opens)?, self.civil(closes)?);
        let days = closes.date().since(opens.date()).ok()?.get_days();
        Some(Hours { date: opens.date(), opens: opens.time(), closes: closes.time(), days })
    }

    /// The hours after an edit, which changes only what it names: the day's window may not be at the hours promised.
    pub(crate) fn edited(&self, hours: &Hours, opens: Option<EpochMs>, closes: Option<EpochMs>) -> Option<Hours> {
        let mut hours = hours.clone();
        if let Some(opens) = opens {
            let opens = self.civil(opens)?;
            // Closes on the same date as before, unless that is edited too.
            let closes = hours.closes_on()?;
            (hours.date, hours.opens, hours.days) =
                (opens.date(), opens.time(), closes.since(opens.date()).ok()?.get_days());
        }
        if let Some(closes) = closes {
            let closes = self.civil(closes)?;
            (hours.closes, hours.days) = (closes.time(), closes.date().since(hours.date).ok()?.get_days());
        }
        Some(hours)
    }

    fn civil(&self, at: EpochMs) -> Option<DateTime> {
        Some(Timestamp::from(at).to_zoned(TimeZone::get(self.time_zone.as_str()).ok()?).datetime())
    }

    /// Checks for more than a year that each window ends `lead_s` seconds before the next one opens: days on which
    /// clocks go forward are shorter. Late messages of one round do not affect the next one.
    pub(crate) fn keeps_apart(&self, hours: &Hours, window: (EpochMs, EpochMs), lead_s: u32) -> Result<(), Overlap> {
        let (mut hours, mut window) = (hours.clone(), window);
        for _ in 0..MAX_DAYS {
            let Some(next) = self.next_window(&hours, window.0) else { return Ok(()) };
            let next_opens_at = next.opens.minus_s(lead_s);
            if next_opens_at < window.1 {
                return Err(Overlap { next_opens_at });
            }
            (hours, window) = (next.hours, (next.opens, next.closes));
        }
        Ok(())
    }

    /// The first window after `hours` that is not over at `now`: the same times on a later calendar day.
    ///
    /// A time of day that is skipped when clocks go forward moves later by as much, on that day; a time that occurs
    /// twice when clocks go back means the first one (RFC 5545, section 3.3.5). A day on which nothing is left of the
    /// window has none, and so has a date that a zone skips. `None` if there is no window within a year.
    pub(crate) fn next_window(&self, hours: &Hours, now: EpochMs) -> Option<Window> {
        let zone = TimeZone::get(self.time_zone.as_str()).ok()?;
        let at = |date: Date, time: Time| {
            Some(EpochMs::from(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp()))
        };
        (1..=MAX_DAYS).find_map(|days| {
            let hours = Hours { date: hours.date.checked_add(days.days()).ok()?, ..hours.clone() };
            let opens = at(hours.date, hours.opens)?;
            let closes = at(hours.closes_on()?, hours.closes)?;
            // The same time a date later: a date that the zone skips, as Samoa did at the date line.
            let shown = self.civil(opens)?;
            let is_skipped = shown.date() != hours.date && shown.time() == hours.opens;
            (closes > now && opens < closes && !is_skipped).then_some(Window { opens, closes, hours })
        })
    }
}

/// The times of day at which a recurring sale opens and closes, and the day of its latest window. Windows are computed
/// from these and never from the window before, so a day on which clocks change has no effect on later days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hours {
    date: Date,
    opens: Time,
    closes: Time,
    days: i32,
}

impl Hours {
    fn closes_on(&self) -> Option<Date> {
        self.date.checked_add(Span::new().days(self.days)).ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub opens: EpochMs,
    pub closes: EpochMs,
    pub(crate) hours: Hours,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use jiff::{SignedDuration, Zoned};

    use super::*;

    fn at(text: &str) -> EpochMs {
        text.parse::<Timestamp>().unwrap().into()
    }

    #[test]
    fn the_next_window_is_at_the_same_time_on_the_next_day() {
        let berlin = Recurrence::daily("Europe/Berlin").unwrap();
        let utc = |text: &str| at(&format!("2026-{text}:00Z"));
        for (opens, closes, now, next_opens, next_closes) in [
            ("07-01T08:00", "07-01T10:00", "07-01T22:00", "07-02T08:00", "07-02T10:00"),
            // On 29 March clocks go from 2:00 to 3:00. 10:00 in Berlin is 9:00 UTC before and 8:00 UTC after.
            ("03-28T09:00", "03-28T11:00", "03-28T12:00", "03-29T08:00", "03-29T10:00"),
            // 2:30 does not exist on that day: 3:30, which is 1:30 UTC.
            ("03-28T01:30", "03-28T04:00", "03-28T12:00", "03-29T01:30", "03-29T03:00"),
            // On 25 October clocks go from 3:00 to 2:00. 10:00 in Berlin is 8:00 UTC before and 9:00 UTC after.
            ("10-24T08:00", "10-24T10:00", "10-24T12:00", "10-25T09:00", "10-25T11:00"),
            // 2:30 comes twice on that day: the first of them, 0:30 UTC.
            ("10-24T00:30", "10-24T06:00", "10-24T12:00", "10-25T00:30", "10-25T07:00"),
            // Days that were missed are skipped, and one that ends now is over.
            ("07-01T08:00", "07-01T10:00", "07-04T09:00", "07-04T08:00", "07-04T10:00"),
            ("07-01T08:00", "07-01T10:00", "07-04T10:00", "07-05T08:00", "07-05T10:00"),
        ] {
            let hours = berlin.hours(utc(opens), utc(closes)).unwrap();
            let next = berlin.next_window(&hours, utc(now)).unwrap();
            assert_eq!((next.opens, next.closes), (utc(next_opens), utc(next_closes)), "{opens} at {now}");
        }
    }

    #[test]
    fn windows_that_would_overlap_are_found() {
        let berlin = Recurrence::daily("Europe/Berlin").unwrap();
        let first = |opens: &str, closes: &str| {
            let window = (at(opens), at(closes));
            let hours = berlin.hours(window.0, window.1).unwrap();
            berlin.keeps_apart(&hours, window, 0).err().map(|overlap| overlap.next_opens_at.to_string())
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

    /// The windows of a sale that first opens at this civil time, for some hours, by the zone's clocks.
    fn windows(zone: &str, first: &str, hours: i64) -> impl Iterator<Item = (Hours, Zoned, Zoned)> {
        let (sale, zone) = (Recurrence::daily(zone).unwrap(), TimeZone::get(zone).unwrap());
        let opens = first.parse::<DateTime>().unwrap();
        let moment = |time: DateTime| EpochMs::from(time.to_zoned(zone.clone()).unwrap().timestamp());
        let (first, closes) = (moment(opens), moment(opens + hours.hours()));
        let begun = Window { opens: first, closes, hours: sale.hours(first, closes).unwrap() };
        let all = std::iter::successors(Some(begun), move |last| sale.next_window(&last.hours, last.opens));
        let shown = move |at: EpochMs| Timestamp::from(at).to_zoned(zone.clone());
        all.map(move |Window { opens, closes, hours }| (hours, shown(opens), shown(closes)))
    }

    #[test]
    fn the_day_on_which_clocks_change_has_no_effect_on_later_days() {
        let cases: [(&str, &str, i64, &[&str]); 6] = [
            // There is no 0:00 on 30 April 2027 in Cairo.
            (
                "Africa/Cairo",
                "2027-04-28T00:00",
                2,
                &["28 00:00-02:00", "29 00:00-02:00", "30 01:00-02:00", "01 00:00-02:00"],
            ),
            ("Africa/Cairo", "2027-04-28T22:00", 2, &["28 22:00-00:00", "29 22:00-01:00", "30 22:00-00:00"]),
            // 2:30 comes twice on 31 October 2027 in Berlin.
            ("Europe/Berlin", "2027-10-30T02:30", 1, &["30 02:30-03:30", "31 02:30-03:30", "01 02:30-03:30"]),
            // Clocks go forward by half an hour on 3 October 2027.
            ("Australia/Lord_Howe", "2027-10-02T02:00", 1, &["02 02:00-03:00", "03 02:30-03:00", "04 02:00-03:00"]),
            // Samoa had no 30 December 2011.
            ("Pacific/Apia", "2011-12-28T12:00", 1, &["28 12:00-13:00", "29 12:00-13:00", "31 12:00-13:00"]),
            ("Pacific/Apia", "2011-12-29T23:00", 2, &["29 23:00-01:00", "31 23:00-01:00"]),
        ];
        for (zone, first, hours, expected) in cases {
            let shown = windows(zone, first, hours)
                .map(|(_, opens, closes)| format!("{}-{}", opens.strftime("%d %H:%M"), closes.strftime("%H:%M")));
            assert_eq!(shown.take(expected.len()).collect::<Vec<_>>(), expected, "{zone}");
        }
    }

    #[test]
    fn a_window_that_a_transition_leaves_nothing_of_is_left_out() {
        // From 2:30 to 3:00 on 28 March 2027 in Berlin would be from 3:30 to 3:00.
        let berlin = Recurrence::daily("Europe/Berlin").unwrap();
        let hours = berlin.hours(at("2027-03-27T01:30:00Z"), at("2027-03-27T02:00:00Z")).unwrap();
        let next = berlin.next_window(&hours, at("2027-03-27T12:00:00Z")).unwrap();
        assert_eq!(next.opens, at("2027-03-29T00:30:00Z"));
    }

    #[test]
    fn an_edit_after_a_transition_changes_only_what_it_says() {
        let cairo = Recurrence::daily("Africa/Cairo").unwrap();
        let hours = cairo.hours(at("2027-04-28T22:00:00Z"), at("2027-04-29T00:00:00Z")).unwrap();
        // 30 April, at 1:00 and at 2:00.
        let shifted = cairo.next_window(&hours, at("2027-04-29T10:00:00Z")).unwrap();
        assert_eq!((shifted.opens, shifted.closes), (at("2027-04-29T22:00:00Z"), at("2027-04-29T23:00:00Z")));
        let longer = cairo.edited(&shifted.hours, None, Some(at("2027-04-30T00:00:00Z"))).unwrap();
        let next = cairo.next_window(&longer, at("2027-04-30T10:00:00Z")).unwrap();
        assert_eq!((next.opens, next.closes), (at("2027-04-30T21:00:00Z"), at("2027-05-01T00:00:00Z")));
        let later = cairo.edited(&shifted.hours, Some(at("2027-04-29T22:30:00Z")), None).unwrap();
        let next = cairo.next_window(&later, at("2027-04-30T10:00:00Z")).unwrap();
        assert_eq!((next.opens, next.closes), (at("2027-04-30T22:30:00Z"), at("2027-04-30T23:00:00Z")));
    }

    /// Each zone, each half hour at which clocks change somewhere and some others, each day of a year.
    #[test]
    fn every_day_without_a_transition_opens_and_closes_at_the_time_promised() {
        const FROM: &str = "2026-11-26";
        const DAYS: usize = 366;
        let is_quiet = |date: Date, zone: &TimeZone| {
            let midnight = |date: Date| date.to_zoned(zone.clone()).unwrap();
            let (start, end) = (midnight(date), midnight(date.tomorrow().unwrap()));
            start.time() == Time::midnight() && end.duration_since(&start) == SignedDuration::from_hours(24)
        };
        let mut checked = 0;
        let mut zones = HashMap::new();
        for zone in jiff::tz::db().available() {
            let zone = zone.to_string();
            let Ok(found) = TimeZone::get(&zone) else { continue };
            // Zones with the same transitions are one.
            let from = FROM.parse::<Date>().unwrap().to_zoned(found.clone()).unwrap();
            let until = from.checked_add(400.days()).unwrap();
            let transitions: Vec<_> = found
                .following(from.timestamp())
                .take_while(|each| each.timestamp() < until.timestamp())
                .map(|each| (each.timestamp(), each.offset()))
                .collect();
            zones.entry((from.offset(), transitions)).or_insert(zone);
        }
        assert!(zones.len() > 40, "{}", zones.len());
        for zone in zones.values() {
            for half_hour in (0..8).chain([14, 24, 34]).chain(43..48) {
                let first = format!("{FROM}T{:02}:{:02}", half_hour / 2, half_hour % 2 * 30);
                let time = first.parse::<DateTime>().unwrap();
                let end = time + 2.hours();
                let mut date = time.date();
                for (hours, opens, closes) in windows(zone, &first, 2).take(DAYS) {
                    while date < hours.date {
                        assert!(!is_quiet(date, opens.time_zone()), "{zone} {first}: no window on {date}");
                        date = date.tomorrow().unwrap();
                    }
                    date = date.tomorrow().unwrap();
                    let closes_on = hours.closes_on().unwrap();
                    for (shown, promised) in
                        [(opens, hours.date.to_datetime(time.time())), (closes, closes_on.to_datetime(end.time()))]
                    {
                        let is_at_the_time = shown.datetime() == promised;
                        let is_quiet = is_at_the_time || is_quiet(promised.date(), shown.time_zone());
                        assert!(is_at_the_time || !is_quiet, "{zone} {first}: {shown}");
                        checked += usize::from(is_at_the_time);
                    }
                }
            }
        }
        assert!(checked > zones.len() * 16 * 2 * 360, "{checked}");
    }

    #[test]
    fn time_zones_have_names() {
        assert_eq!(Recurrence::daily("Atlantis/Capital"), Err(UnknownTimeZone));
        let json = r#"{"every":"day","time_zone":"Asia/Shanghai"}"#;
        let read: Recurrence = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
    }
}
