//! The parameters of a request's query, and the cursors that lead from page to page.

use api::Problem;
use jiff::Timestamp;
use lambda_http::{Request, RequestExt};
use sale::{EpochMs, ReservationId};

/// A query's parameters; each may occur once.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the query of a route with these parameters. Others are refused: a misspelled filter must not be ignored.
    pub(crate) fn new(request: &Request, known: &[&str]) -> Result<Self, Problem> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for (name, value) in request.query_string_parameters_ref().iter().flat_map(|query| query.iter()) {
            if !known.contains(&name) {
                return Err(Problem::invalid(format!("{name}: unknown here; known are {}", known.join(", "))));
            }
            if parameters.iter().any(|(told, _)| told == name) {
                return Err(Problem::invalid(format!("{name}: once at most")));
            }
            parameters.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self(parameters))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(told, _)| told == name).map(|(_, value)| value.as_str())
    }

    /// A parsed parameter. Errors begin with its name.
    pub(crate) fn parsed<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Problem> {
        self.get(name).map(read).transpose().map_err(|wrong| Problem::invalid(format!("{name}: {wrong}")))
    }

    pub(crate) fn moment(&self, name: &str) -> Result<Option<EpochMs>, Problem> {
        let read = |text: &str| text.parse::<Timestamp>().map(EpochMs::from);
        self.parsed(name, |text| read(text).map_err(|_| "must be a time such as 2026-11-24T10:00:00Z".to_owned()))
    }

    /// The number of items to show, from 1 to `most`.
    pub(crate) fn limit(&self, usual: usize, most: usize) -> Result<usize, Problem> {
        let read = |text: &str| match text.parse() {
            Ok(limit) if (1..=most).contains(&limit) && limit.to_string() == text => Ok(limit),
            _ => Err(format!("must be a whole number from 1 to {most}")),
        };
        Ok(self.parsed("limit", read)?.unwrap_or(usual))
    }

    /// A hash of these parameters, which a cursor carries so that it only works in the same query.
    pub(crate) fn mark(&self, names: &[&str]) -> String {
        let told = names.iter().map(|name| format!("{}\n", self.get(name).unwrap_or_default()));
        mark(&told.collect::<String>())
    }
}

/// A text's hash in sixteen hex digits (FNV-1a). A forged cursor reveals nothing that an operator may not see.
pub(crate) fn mark(text: &str) -> String {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, step))
}

/// Where a page of orders ended, with the hash of its query. Formatted as `CREATED_AT_MS.RESERVATION_ID.MARK`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) created_at_ms: EpochMs,
    pub(crate) id: ReservationId,
    pub(crate) mark: String,
}

impl Cursor {
    pub(crate) fn parse(text: &str, mark: &str) -> Result<Self, Problem> {
        let parse = || {
            let (created_at_ms, rest) = text.split_once('.')?;
            let (id, mark) = rest.rsplit_once('.')?;
            let created_at_ms = EpochMs(created_at_ms.parse().ok()?);
            Some(Self { created_at_ms, id: id.parse().ok()?, mark: mark.to_owned() })
        };
        // A number can be written in several ways, only one of which we give out.
        let cursor = parse().filter(|cursor: &Self| cursor.to_string() == text).ok_or_else(bad_cursor)?;
        if cursor.mark == mark { Ok(cursor) } else { Err(Problem::invalid("cursor: belongs to another query")) }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.created_at_ms.0, self.id, self.mark)
    }
}

pub(crate) fn bad_cursor() -> Problem {
    Problem::invalid("cursor: take it from an earlier page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_on_in_its_own_query_only() {
        let id: ReservationId = format!("lamp.1.{}", "0".repeat(32)).parse().unwrap();
        let cursor = Cursor { created_at_ms: EpochMs(7), id, mark: mark("a") };
        assert_eq!(Cursor::parse(&cursor.to_string(), &mark("a")).unwrap(), cursor);
        assert!(Cursor::parse(&cursor.to_string(), &mark("b")).is_err());
        for bad in ["", "7", "7.lamp", "x.lamp.1.0.0", &format!("7.{}", cursor.id)] {
            assert!(Cursor::parse(bad, &mark("a")).is_err(), "{bad}");
        }
    }

    /// The next page may be asked of another build.
    #[test]
    fn a_mark_stays_the_same() {
        // The published test vector of 64-bit FNV-1a.
        assert_eq!(mark("foobar"), "85944171f73967e8");
    }
}
