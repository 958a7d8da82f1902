use crate::prelude::*;

/// A request as its client wrote it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    }

    /// A query parameter, not decoded: no valid parameter needs it.
    pub(crate) fn queried(&self, name: &str) -> Option<String> {
        let found = self.query.split('&').filter_map(|pair| pair.split_once('=')).find(|pair| pair.0 == name);
        found.map(|(_, value)| value.to_owned())
    }
}
