use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

/// An ISO 4217 currency code: three capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct Currency([u8; 3]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a currency is an ISO 4217 code of three capital letters, such as EUR")]
pub struct InvalidCurrency;

impl FromStr for Currency {
    type Err = InvalidCurrency;
    fn from_str(text: &str) -> Result<Self, InvalidCurrency> {
        let code: [u8; 3] = text.as_bytes().try_into().map_err(|_| InvalidCurrency)?;
        if code.iter().all(u8::is_ascii_uppercase) { Ok(Self(code)) } else { Err(InvalidCurrency) }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{}", char::from(*b)))
    }
}

/// An amount of money in the currency's minor unit (cents, yen).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub price_minor: u64,
    pub currency: Currency,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currencies_are_three_capitals() {
        assert_eq!("EUR".parse::<Currency>().unwrap().to_string(), "EUR");
        for bad in ["", "EU", "EURO", "eur", "E1R", "€"] {
            assert_eq!(bad.parse::<Currency>(), Err(InvalidCurrency), "{bad:?}");
        }
    }
}
