//! Writes the certificates of Amazon's authorities, `amazon_roots.pem`, out of those that browsers trust.

use std::path::Path;

use pem::{EncodeConfig, LineEnding, Pem};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// The authorities of Amazon Trust Services, by the names in the certificates.
const NAMES: [&str; 5] = [
    "Amazon Root CA 1",
    "Amazon Root CA 2",
    "Amazon Root CA 3",
    "Amazon Root CA 4",
    "Starfield Services Root Certificate Authority - G2",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_amazons = |der: &[u8]| NAMES.iter().any(|name| der.windows(name.len()).any(|part| part == name.as_bytes()));
    let amazons = TLS_SERVER_ROOT_CERTS.iter().filter(|certificate| is_amazons(certificate));
    let roots: Vec<Pem> = amazons.map(|certificate| Pem::new("CERTIFICATE", certificate.as_ref())).collect();
    assert_eq!(roots.len(), NAMES.len(), "browsers no longer trust exactly these authorities of Amazon's");
    let folder = std::env::var("OUT_DIR").expect("cargo says where");
    let text = pem::encode_many_config(&roots, EncodeConfig::new().set_line_ending(LineEnding::LF));
    std::fs::write(Path::new(&folder).join("amazon_roots.pem"), text).expect("the folder can be written to");
}
