use std::process::Command;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use pass::jwt::use_ring;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};

use super::{Expected, TokenRefused, key_id, user};
use crate::keys::IssuerKeys;

const ISSUER: &str = "https://issuer.example/shop";
const AUDIENCE: &str = "flash-sale";

/// ring makes no RSA keys.
const MAKE_RSA: &str =
    "const { privateKey } = require('node:crypto').generateKeyPairSync('rsa', { modulusLength: 2048 });
    process.stdout.write(privateKey.export({ type: 'pkcs8', format: 'der' }));";

static RSA: LazyLock<RsaKeyPair> = LazyLock::new(new_rsa);
static OTHER_RSA: LazyLock<RsaKeyPair> = LazyLock::new(new_rsa);
static EC: LazyLock<EcdsaKeyPair> = LazyLock::new(|| {
    let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    EcdsaKeyPair::from_pkcs8(kind, EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap().as_ref(), &random).unwrap()
});

fn new_rsa() -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(&Command::new("node").args(["-e", MAKE_RSA]).output().unwrap().stdout).unwrap()
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn rsa_jwk(id: &str) -> Value {
    let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(RSA.public_key());
    json!({ "kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": b64(n), "e": b64(e) })
}

fn ec_jwk(id: &str) -> Value {
    let point = EC.public_key().as_ref();
    json!({ "kty": "EC", "crv": "P-256", "kid": id, "x": b64(&point[1..33]), "y": b64(&point[33..]) })
}

fn keys() -> IssuerKeys {
    use_ring();
    let of_another_kind = json!({ "kty": "new", "kid": "n", "alg": "NEW-1" });
    let secret = json!({ "kty": "oct", "kid": "s", "k": b64("secret") });
    let for_encryption = json!({ "kty": "RSA", "kid": "enc", "use": "enc", "n": "AQAB", "e": "AQAB" });
    let set = json!({ "keys": [of_another_kind, 7, secret, for_encryption, rsa_jwk("r"), ec_jwk("e")] });
    IssuerKeys::read(set.to_string().as_bytes()).unwrap()
}

fn rs256(message: &[u8], key: &RsaKeyPair) -> Vec<u8> {
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
    signature
}

fn es256(message: &[u8]) -> Vec<u8> {
    EC.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec()
}

fn token(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
    let signature = b64(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "iat": now(), "exp": now() + 600 })
}

fn with(claim: &str, value: Value) -> Value {
    let mut claims = claims();
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(claim)),
        value => claims[claim] = value,
    }
    claims
}

fn signed(claims: &Value) -> String {
    token(&json!({ "alg": "RS256", "kid": "r" }), claims, |message| rs256(message, &RSA))
}

fn check(token: &str) -> Result<String, TokenRefused> {
    let keys = keys();
    let expected = Expected { issuer: ISSUER.into(), audience: [AUDIENCE.into(), "other-app".into()].into() };
    let id = key_id(token)?;
    user(token, keys.get(&id).ok_or(TokenRefused::BadToken)?, &expected).map(|user| user.to_string())
}

#[test]
fn a_good_token_says_who_it_is() {
    for good in [
        signed(&claims()),
        token(&json!({ "alg": "ES256", "kid": "e" }), &claims(), es256),
        signed(&with("aud", json!(["x", AUDIENCE]))),
        signed(&with("aud", json!("other-app"))),
        signed(&with("nbf", json!(now() - 1))),
        signed(&with("groups", json!(["operators"]))),
    ] {
        assert_eq!(check(&good).as_deref(), Ok("alice"), "{good}");
    }
}

#[test]
fn an_access_token_of_cognito_has_a_client_for_an_audience() {
    let mut access = with("aud", Value::Null);
    access["client_id"] = json!(AUDIENCE);
    assert_eq!(check(&signed(&access)).as_deref(), Ok("alice"));
    access["client_id"] = json!("another");
    assert_eq!(check(&signed(&access)), Err(TokenRefused::BadToken));
    access["client_id"] = json!(AUDIENCE);
    access["aud"] = json!("another");
    assert_eq!(check(&signed(&access)), Err(TokenRefused::BadToken));
}

#[test]
fn a_claim_that_is_wrong_refuses() {
    for (claim, value) in [
        ("exp", json!(now() - 6)),
        ("exp", json!(0)),
        ("exp", json!("tomorrow")),
        ("exp", Value::Null),
        ("nbf", json!(now() + 600)),
        ("nbf", json!("tomorrow")),
        ("iss", json!("https://issuer.example/shop/")),
        ("iss", json!([ISSUER])),
        ("iss", Value::Null),
        ("aud", json!("another-shop")),
        ("aud", json!(["another-shop"])),
        ("aud", json!([])),
        ("aud", json!(7)),
        ("aud", json!({ AUDIENCE: 1 })),
        ("aud", Value::Null),
        ("sub", json!("")),
        ("sub", json!("a b")),
        ("sub", json!(7)),
        ("sub", Value::Null),
    ] {
        assert_eq!(check(&signed(&with(claim, value.clone()))), Err(TokenRefused::BadToken), "{claim} {value}");
    }
}

#[test]
fn who_signs_otherwise_is_refused() {
    let rs = json!({ "alg": "RS256", "kid": "r" });
    let hs = json!({ "alg": "HS256", "kid": "r" });
    let RsaPublicKeyComponents { n, .. } = RsaPublicKeyComponents::<Vec<u8>>::from(RSA.public_key());
    let der = RSA.public_key().as_ref();
    let pem =
        format!("-----BEGIN RSA PUBLIC KEY-----\n{}\n-----END RSA PUBLIC KEY-----\n", BASE64_STANDARD.encode(der));
    let hs256 = |secret: &[u8], message: &[u8]| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
    };
    let rsa = |message: &[u8]| rs256(message, &RSA);
    let refused = [
        ("none", token(&json!({ "alg": "none", "kid": "r" }), &claims(), |_| Vec::new())),
        ("None", token(&json!({ "alg": "None", "kid": "r" }), &claims(), |_| Vec::new())),
        ("no algorithm", token(&json!({ "kid": "r" }), &claims(), rsa)),
        ("no signature", token(&rs, &claims(), |_| Vec::new())),
        ("another key", token(&rs, &claims(), |message| rs256(message, &OTHER_RSA))),
        ("HS256 with the modulus", token(&hs, &claims(), |message| hs256(&n, message))),
        ("HS256 with the DER", token(&hs, &claims(), |message| hs256(der, message))),
        ("HS256 with the PEM", token(&hs, &claims(), |message| hs256(pem.as_bytes(), message))),
        ("a published secret", token(&json!({ "alg": "HS256", "kid": "s" }), &claims(), |m| hs256(b"secret", m))),
        ("RS512", token(&json!({ "alg": "RS512", "kid": "r" }), &claims(), rsa)),
        ("RS256 of an EC key", token(&json!({ "alg": "RS256", "kid": "e" }), &claims(), rsa)),
        ("ES256 of an RSA key", token(&json!({ "alg": "ES256", "kid": "r" }), &claims(), es256)),
        ("a key for encryption", token(&json!({ "alg": "RS256", "kid": "enc" }), &claims(), rsa)),
        ("an unknown key", token(&json!({ "alg": "RS256", "kid": "unknown" }), &claims(), rsa)),
        ("an unknown extension", token(&json!({ "alg": "RS256", "kid": "r", "crit": ["b64"] }), &claims(), rsa)),
        ("no key", token(&json!({ "alg": "RS256" }), &claims(), rsa)),
    ];
    for (what, token) in refused {
        assert_eq!(check(&token), Err(TokenRefused::BadToken), "{what}");
    }
}

#[test]
fn a_token_that_was_changed_is_refused() {
    let good = signed(&claims());
    let part = |token: &str, n: usize| token.split('.').nth(n).unwrap().to_owned();
    let mallory = signed(&with("sub", json!("mallory")));
    assert!(check(&good).is_ok());
    assert_eq!(check(&[part(&good, 0), part(&mallory, 1), part(&good, 2)].join(".")), Err(TokenRefused::BadToken));
    assert_eq!(check(&good[..good.len() - 4]), Err(TokenRefused::BadToken));
}

#[test]
fn what_is_no_token_is_refused() {
    let good = signed(&claims());
    let long = format!("{good}{}", "A".repeat(10_000));
    for garbage in ["", ".", "..", "...", "a.b.c", "токен", "{}", &good.replace('.', ""), &format!("{good}.x"), &long]
    {
        assert_eq!(check(garbage), Err(TokenRefused::BadToken), "{garbage:.40}");
    }
}

#[test]
fn a_key_set_without_a_key_for_us_is_empty() {
    assert!(IssuerKeys::read(br#"{"keys":[]}"#).unwrap().is_empty());
    assert!(IssuerKeys::read(br#"{"keys":[{"kty":"oct","k":"AA","kid":"s"}]}"#).unwrap().is_empty());
    for bad in ["", "[]", "{}", r#"{"keys":7}"#] {
        assert!(IssuerKeys::read(bad.as_bytes()).is_err(), "{bad}");
    }
}
