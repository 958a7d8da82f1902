use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use sale::SaleId;
use sale::award::Bytes32;
use sha2::Sha256;

use crate::KeyRing;

/// What keys are derived from the pass keys for. The CDN can have derived keys: they are good for nothing else.
const TICKET: &str = "line/1/ticket";
const WATERMARK: &str = "line/1/watermark";
pub(crate) const TAG: usize = 32;

/// The keys that seal tickets and watermarks, derived from the pass keys. One seals, all of them open.
#[derive(Clone)]
pub struct LineKeys {
    signing: u8,
    keys: BTreeMap<u8, LineKey>,
}

#[derive(Clone, Copy)]
pub struct LineKey {
    pub ticket: Bytes32,
    pub watermark: Bytes32,
}

impl LineKeys {
    pub fn of(ring: &KeyRing) -> Self {
        let (tickets, watermarks) = (ring.derived(TICKET), ring.derived(WATERMARK));
        let keys = tickets.into_iter().zip(watermarks);
        let keys = keys.map(|((number, ticket), (_, watermark))| (number, LineKey { ticket, watermark })).collect();
        Self { signing: ring.signing_number(), keys }
    }

    pub fn all(&self) -> impl Iterator<Item = (u8, &LineKey)> {
        self.keys.iter().map(|(number, key)| (*number, key))
    }

    pub(crate) fn signing(&self) -> (u8, &LineKey) {
        (self.signing, &self.keys[&self.signing])
    }

    pub(crate) fn key(&self, number: u8) -> Option<&LineKey> {
        self.keys.get(&number)
    }
}

/// HMAC-SHA256 of the length of the sale's id in 8 bytes, big endian, the id and the body. The body comes last, so
/// different inputs cannot collide.
pub(crate) fn tagged(key: &Bytes32, sale: &SaleId, body: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.chain_update((sale.as_str().len() as u64).to_be_bytes()).chain_update(sale.as_str()).chain_update(body)
}
