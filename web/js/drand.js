// Checks the beacon of a draw: drand must have signed the round that the draw had to name. Its library is large, so
// this file is loaded only for draws that have a beacon. The first implementation is shared/sale/src/award/beacon.rs
// with shared/sale/src/award/drand.rs.

import { bls12_381 as curve } from '@noble/curves/bls12-381.js';
import { bytesOf, hexOf, number, sha256 } from './draw.js';

/** Drand's chain quicknet: its hash, its first round in seconds since 1970, and its public key. */
export const CHAIN_HASH = '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971';
const GENESIS_S = 1_692_803_367;
const PERIOD_S = 3;
const KEY = '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a';
const DOMAIN = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_';
/** Seconds between the time when a draw is fixed and the earliest round that it may name. */
const AHEAD_S = 60;
const SIGNATURE_BYTES = 48;
const KEY_BYTES = 96;

/** The time of a round, in milliseconds since 1970. */
export const atMs = (round) => (GENESIS_S + (round - 1) * PERIOD_S) * 1000;

/** The round that a draw must name if it is fixed at this time. */
export const namedAt = (ms) => Math.max(0, Math.ceil((ms + AHEAD_S * 1000 - GENESIS_S * 1000) / (PERIOD_S * 1000))) + 1;

/** Drand's randomness for a signature: its SHA-256, in hex. */
export const randomnessOf = (signature) => hexOf(sha256(bytesOf(signature, SIGNATURE_BYTES)));

/** Whether this is the signature of a round, both in drand's format. Tests may pass another key. */
export function isSigned(round, signature, key = KEY) {
  const { shortSignatures: scheme } = curve;
  try {
    const message = scheme.hash(sha256(number(round, 8)), DOMAIN);
    return scheme.verify(bytesOf(signature, SIGNATURE_BYTES), message, bytesOf(key, KEY_BYTES));
  } catch {
    // Not a point of the curve.
    return false;
  }
}

/**
 * Whether the beacon of a public draw is correct. A draw at the end named its round when entries closed; every other
 * draw did before it opened, so the round came before its end.
 */
export function holds({ drand, beacon, closes_at: closes, at_end: atEnd }) {
  const at = Date.parse(drand.at);
  const isNamed = atEnd ? drand.round === namedAt(Date.parse(atEnd.closed.at)) : at < Date.parse(closes);
  return drand.chain_hash === CHAIN_HASH && at === atMs(drand.round) && isNamed &&
    isSigned(drand.round, beacon.signature) && randomnessOf(beacon.signature) === beacon.randomness;
}
