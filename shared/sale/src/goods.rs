use http::Uri;
use serde::{Deserialize, Serialize};

use crate::MAX_PRICE_MINOR;
use crate::invalid_terms::{InvalidTerms, require};
use crate::text_serde::text_type;

pub const MAX_DESCRIPTION_LENGTH: usize = 2000;
pub const MAX_PICTURES: usize = 8;
pub const MAX_URL_LENGTH: usize = 400;
/// The path of the page's own drawings.
const OWN_PICTURES: &str = "/art/";

/// What buyers see of the goods besides title and price. Nothing depends on it, so it may change.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goods {
    /// Plain text. A line feed ends a paragraph.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureUrl>,
    /// The usual price of a unit, in minor units of the price's currency.
    pub list_price_minor: Option<u64>,
    pub terms_url: Option<TermsUrl>,
}

impl Goods {
    pub(crate) fn validate(&self, price_minor: u64) -> Result<(), InvalidTerms> {
        let is_text = |c: char| c == '\n' || !c.is_control();
        let is_described =
            self.description.chars().count() <= MAX_DESCRIPTION_LENGTH && self.description.chars().all(is_text);
        let is_list_price = |list| price_minor < list && list <= MAX_PRICE_MINOR;
        let description = format!(
            "description must have at most {MAX_DESCRIPTION_LENGTH} characters, and no control characters but line feeds"
        );
        require(is_described, "description", description)?;
        require(self.pictures.len() <= MAX_PICTURES, "pictures", format!("pictures: at most {MAX_PICTURES}"))?;
        let list_price = format!("list_price_minor must be more than price_minor, and at most {MAX_PRICE_MINOR}");
        require(self.list_price_minor.is_none_or(is_list_price), "list_price_minor", list_price)
    }
}

/// A URL that pages may not load or link to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    #[error("a URL must be https://…, with a host, at most {MAX_URL_LENGTH} ASCII characters, and no user name")]
    Terms,
    #[error(
        "a picture must be https://…, with a host, at most {MAX_URL_LENGTH} ASCII characters, and no user name; or one \
         of the page's own, such as /art/lamp.svg"
    )]
    Picture,
}

/// The host of a URL that is `https`, short enough, and written as browsers normalize it.
fn https_host(text: &str) -> Option<&str> {
    let authority = text.strip_prefix("https://")?.split(['/', '?', '#']).next()?;
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'\\'));
    let uri: Uri = text.parse().ok()?;
    let host = uri.host().filter(|host| !host.is_empty())?;
    let is_whole = is_plain && text.len() <= MAX_URL_LENGTH && !authority.contains('@');
    (is_whole && authority.starts_with(host)).then(|| &authority[..host.len()])
}

text_type!(TermsUrl, InvalidUrl, InvalidUrl::Terms, |text| https_host(text).is_some());

text_type!(
    /// The URL of a picture: on another host, or one of the page's own drawings.
    PictureUrl, InvalidUrl, InvalidUrl::Picture, |text| https_host(text).is_some() || is_own(text)
);

fn is_own(text: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.len() <= MAX_URL_LENGTH
        && text.strip_prefix(OWN_PICTURES).is_some_and(|name| {
            name.bytes().all(is_name) && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        })
}

impl PictureUrl {
    /// The host it is loaded from. `None` if that is the page's own.
    pub fn host(&self) -> Option<&str> {
        https_host(&self.0)
    }

    pub fn has_port(&self) -> bool {
        self.host().is_some_and(|host| self.0["https://".len() + host.len()..].starts_with(':'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(text: &str) -> Result<PictureUrl, InvalidUrl> {
        text.parse()
    }

    #[test]
    fn a_picture_has_a_host_or_is_the_pages_own() {
        for (text, host) in [
            ("https://cdn.example.com/lamp.webp?w=800", Some("cdn.example.com")),
            ("https://cdn.example.com:8443/lamp.webp", Some("cdn.example.com")),
            ("https://cdn.example.com", Some("cdn.example.com")),
            ("/art/lamp.svg", None),
        ] {
            let picture = picture(text).unwrap();
            assert_eq!((picture.host(), picture.has_port()), (host, text.contains(":8443")), "{text}");
        }
    }

    #[test]
    fn what_a_browser_could_read_otherwise_is_no_address() {
        let long = format!("https://cdn.example.com/{}", "a".repeat(MAX_URL_LENGTH));
        for text in [
            "",
            "http://cdn.example.com/lamp.webp",
            "HTTPS://cdn.example.com/lamp.webp",
            "javascript:alert(1)",
            "data:image/png;base64,iVBORw0KGgo=",
            "//cdn.example.com/lamp.webp",
            "https://",
            "https:///lamp.webp",
            "https://cdn.example.com@evil.example/lamp.webp",
            "https://cdn.example.com\\@evil.example/lamp.webp",
            "https://cdn.example.com/a b.webp",
            "https://cdn.example.com/\u{e9}.webp",
            "https://cdn.example.com/\".webp",
            "/art/../v1/orders",
            "/art/",
            "/art/.hidden",
            "/art/a/b.svg",
            "/v1/orders",
            &long,
        ] {
            assert_eq!(picture(text), Err(InvalidUrl::Picture), "{text}");
            assert_eq!(text.parse::<TermsUrl>(), Err(InvalidUrl::Terms), "{text}");
        }
        assert!("/art/lamp.svg".parse::<TermsUrl>().is_err());
    }

    #[test]
    fn goods_have_bounds() {
        let goods = |change: fn(&mut Goods)| {
            let mut goods = Goods::default();
            change(&mut goods);
            goods.validate(990).map_err(|invalid| invalid.field())
        };
        assert_eq!(goods(|_| {}), Ok(()));
        assert_eq!(goods(|g| g.description = "é\n".repeat(MAX_DESCRIPTION_LENGTH / 2)), Ok(()));
        assert_eq!(goods(|g| g.description = "x".repeat(MAX_DESCRIPTION_LENGTH + 1)), Err("description"));
        assert_eq!(goods(|g| g.description = "a\tb".into()), Err("description"));
        assert_eq!(goods(|g| g.pictures = vec!["/art/lamp.svg".parse().unwrap(); MAX_PICTURES]), Ok(()));
        assert_eq!(goods(|g| g.pictures = vec!["/art/lamp.svg".parse().unwrap(); MAX_PICTURES + 1]), Err("pictures"));
    }
}
