//! Verifies the line of a sale from its public document alone, as anyone can.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};
use pass::KeyRing;
use pass::line::{
    self, Class, LineDocument, LineKeys, LineOrder, LineState, Range, Ticket, WHOLE_PPB, commit, rank_of_early,
};
use sale::award;
use sale::{RoundId, UserId};
use serde::Serialize;

use crate::sales::Public;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct CheckedLine {
    round: String,
    state: LineState,
    commitment: String,
    people: u64,
    early_ppb: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<CheckedPlace>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct CheckedPlace {
    user: UserId,
    #[serde(flatten)]
    class: Class,
    /// The place among all who came at the same time, in parts per billion.
    place_ppb: u32,
    /// Roughly how many people are in front. Unknown for a late user.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<Range>,
    is_admitted: bool,
}

/// Fetches the line of a round, verifies it and prints the result. `noted` is the commitment that you noted before the
/// opening, and `ticket` the one whose place to compute.
pub async fn check_line(round: &RoundId, ticket: Option<&str>, noted: Option<&str>, public: &Public) -> Result<()> {
    let sale = &round.sale;
    let missing = format!("{sale} has no line; --sale names another sale");
    let document = public.publisher()?.document(sale, &format!("/{sale}/line"), "a line", &missing).await?;
    public.print(&check(round, &document, ticket, noted)?)
}

pub fn check(round: &RoundId, line: &LineDocument, ticket: Option<&str>, noted: Option<&str>) -> Result<CheckedLine> {
    let shown = line.round_id();
    ensure!(shown == *round, "asked for {round}, but the answer is the line of {shown}");
    let Some(seed) = &line.seed else { bail!("the seed is not public yet; it will be at {}", line.opens_at) };
    let seed = award::Seed(award::bytes32(seed).context("the seed is not 64 lower-case hex digits")?);
    let computed = commit(round, &seed).to_string();
    for published in [Some(&*line.commitment), noted].into_iter().flatten() {
        let gives = format!("the seed gives {computed}, but {published} was published");
        ensure!(computed == published, "the commitment does not hold: {gives}");
    }
    let order = LineOrder::of(&seed);
    let place = ticket.map(|text| {
        let Ticket { round: of, user, class } = Ticket::said(text).context("this is not a ticket")?;
        ensure!(of == round.number, "the ticket is for round {of}");
        let place = order.place(&user);
        let rank = (class == Class::Early).then(|| rank_of_early(place, line.people.estimate));
        let is_admitted = line.admitted.watermark().admits(class, place);
        Ok(CheckedPlace { user, class, place_ppb: place.ppb(), rank, is_admitted })
    });
    Ok(CheckedLine {
        round: round.to_string(),
        state: line.state,
        commitment: computed,
        people: line.people.estimate,
        early_ppb: line.admitted.early_ppb,
        place: place.transpose()?,
    })
}

/// For CloudFront's key value store: the keys of tickets and watermarks that follow from the pass keys, by number.
pub fn line_keys(ring: &KeyRing) -> serde_json::Value {
    let hex = |bytes: &[u8]| award::Hex(bytes).to_string();
    let of = |(number, key): (u8, &line::LineKey)| {
        let value = serde_json::json!({ "ticket": hex(&key.ticket), "watermark": hex(&key.watermark) });
        (format!("key:{number}"), serde_json::Value::String(value.to_string()))
    };
    LineKeys::of(ring).all().map(of).collect::<serde_json::Map<_, _>>().into()
}

impl fmt::Display for CheckedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round, commitment, people, early_ppb, place, .. } = self;
        writeln!(f, "The line of {round} holds: its seed matches the commitment {commitment}.")?;
        if *people == 0 {
            writeln!(f, "Nobody came before the opening.")?;
        } else {
            let people = command_line::people(*people);
            writeln!(f, "About {people} came before the opening; {:.4} % of them are admitted.", percent(*early_ppb))?;
        }
        let Some(CheckedPlace { user, class, place_ppb, rank, is_admitted }) = place else { return Ok(()) };
        let when = match class {
            Class::Early => "before the opening".to_owned(),
            Class::Late(second) => format!("in second {second} since the Unix epoch, after the opening"),
        };
        writeln!(f, "{user} came {when} and is behind {:.4} % of the people who came then.", percent(*place_ppb))?;
        if let Some(Range { from, to }) = rank {
            writeln!(f, "That is {} to {}.", command_line::grouped(from), command_line::people(*to))?;
        }
        writeln!(f, "{user} is {}admitted.", if *is_admitted { "" } else { "not yet " })
    }
}

fn percent(ppb: u32) -> f64 {
    f64::from(ppb) / f64::from(WHOLE_PPB) * 100.0
}

#[cfg(test)]
mod tests {
    use pass::line::{Admitted, People, Units, Watermark};
    use sale::EpochMs;
    use sale::award::Seed;

    use super::*;

    const RING: &str = r#"{"signing":1,"key1":"0123456789abcdef0123456789abcdef"}"#;

    fn line() -> (RoundId, LineDocument) {
        let (round, seed) = (RoundId { sale: "lamp".parse().unwrap(), number: "7".parse().unwrap() }, Seed([5; 32]));
        let watermark = Watermark { early_ppb: 500_000_000, late_s: 0, late_ppb: 0 };
        let document = LineDocument {
            sale: round.sale.clone(),
            round: 7,
            state: LineState::Moving,
            commitment: commit(&round, &seed).to_string(),
            seed: Some(LineDocument::seed_text(&seed)),
            opens_at: EpochMs(0).into(),
            tickets_from: EpochMs(0).into(),
            people: People::of(1000, 0),
            admitted: Admitted::of(&watermark, 0, 10, EpochMs(5)),
            units: Units { total: 5, sold: 0, may_return: 0 },
            poll_after_ms: 2000,
            watermark: None,
        };
        (round, document)
    }

    #[test]
    fn a_line_matches_its_commitment_and_a_ticket_has_its_place() {
        let (round, document) = line();
        let keys = LineKeys::of(&RING.parse().unwrap());
        let mut admitted = 0;
        for number in 0..100 {
            let user: UserId = format!("user-{number}").parse().unwrap();
            let ticket = Ticket { round: round.number, user: user.clone(), class: Class::Early };
            let text = ticket.seal(&keys, &round.sale);
            let place = check(&round, &document, Some(&text), Some(&document.commitment)).unwrap().place.unwrap();
            assert_eq!((&place.user, place.is_admitted), (&user, place.place_ppb < 500_000_000));
            let Range { from, to } = place.rank.unwrap();
            let rank = u64::from(place.place_ppb) / 1_000_000;
            assert!(from <= rank && rank <= to, "{from} {rank} {to}");
            admitted += u32::from(place.is_admitted);
        }
        assert!((30..70).contains(&admitted), "{admitted}");
        assert!(check(&round, &document, None, None).unwrap().to_string().contains("The line of lamp.7 holds"));
    }

    #[test]
    fn a_line_without_people_says_so() {
        let (round, document) = line();
        let document = LineDocument { people: People::of(0, 0), ..document };
        let said = check(&round, &document, None, None).unwrap().to_string();
        assert!(said.ends_with(".\nNobody came before the opening.\n"), "{said}");
    }

    #[test]
    fn a_line_that_does_not_hold_is_reported() {
        let (round, document) = line();
        let fails = |document: &LineDocument, commitment: Option<&str>, says: &str| {
            let error = check(&round, document, None, commitment).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        };
        fails(&document, Some(&"0".repeat(64)), "the commitment does not hold");
        let other_seed = LineDocument { seed: Some("11".repeat(32)), ..document.clone() };
        fails(&other_seed, None, "the commitment does not hold");
        fails(&LineDocument { seed: None, ..document.clone() }, None, "not public yet");
        fails(&LineDocument { round: 8, ..document.clone() }, None, "the answer is the line of lamp.8");
        assert!(check(&round, &document, Some("nonsense"), None).is_err());
    }

    #[test]
    fn the_keys_of_the_edge_seal_tickets() {
        let keys = line_keys(&RING.parse().unwrap());
        let value: serde_json::Value = serde_json::from_str(keys["key:1"].as_str().unwrap()).unwrap();
        let (_, key) = LineKeys::of(&RING.parse().unwrap()).all().map(|(n, key)| (n, *key)).next().unwrap();
        assert_eq!(value["ticket"], award::Hex(&key.ticket).to_string());
        assert_eq!(value["watermark"], award::Hex(&key.watermark).to_string());
    }
}
