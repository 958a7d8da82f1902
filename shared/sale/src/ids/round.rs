use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{InvalidId, RoundNumber, SaleId};

/// The id of one occurrence of a sale. Its text is `SALE.NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoundId {
    pub sale: SaleId,
    #[serde(rename = "round")]
    pub number: RoundNumber,
}

impl FromStr for RoundNumber {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // `u32::from_str` also accepts "+1" and "01", which would give a round several ids.
        match text.parse::<u32>() {
            Ok(round) if round > 0 && round.to_string() == text => Ok(Self(round)),
            _ => Err(InvalidId::RoundNumber),
        }
    }
}

impl FromStr for RoundId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // No sale id contains a dot.
        let (sale, number) = text.split_once('.').ok_or(InvalidId::Round)?;
        let invalid = |_| InvalidId::Round;
        Ok(Self { sale: sale.parse().map_err(invalid)?, number: number.parse().map_err(invalid)? })
    }
}

impl fmt::Display for RoundId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sale, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_number_has_one_text() {
        assert_eq!("1".parse(), Ok(RoundNumber(1)));
        for bad in ["", "0", "01", "+1", "-1", "1.0", "4294967296"] {
            assert_eq!(bad.parse::<RoundNumber>(), Err(InvalidId::RoundNumber), "{bad:?}");
        }
    }

    #[test]
    fn a_round_id_reads_back() {
        let id = RoundId { sale: "s-1".parse().unwrap(), number: RoundNumber(3) };
        assert_eq!(id.to_string(), "s-1.3");
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "s", ".1", "s.", "s.0", "s.01", "S.1", "s.1.", "s.1.2"] {
            assert_eq!(bad.parse::<RoundId>(), Err(InvalidId::Round), "{bad:?}");
        }
    }
}
