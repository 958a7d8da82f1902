// Digests of concatenated bytes, as draws and lines use them. Runs in browsers, in workers and in Node.
// @ts-check

import { compress, START } from './sha256.js';

const text = new TextEncoder();

/**
 * Whether it is this many bytes of lower-case hex digits, two for each.
 * @param {unknown} value
 * @returns {value is string}
 */
export function isHex(value, length = 32) {
  return typeof value === 'string' && value.length === 2 * length && /^[0-9a-f]*$/.test(value);
}

/**
 * Reads this many bytes of lower-case hex digits.
 * @param {string} hex
 */
export function bytesOf(hex, length = 32) {
  if (!isHex(hex, length)) throw new RangeError(`not ${2 * length} small hex digits`);
  return Uint8Array.from({ length }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/**
 * The hex digits of bytes.
 * @param {Uint8Array} bytes
 */
export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * A whole number as big-endian bytes; up to 2^53 - 1.
 * @type {(value: number, length: number) => Uint8Array}
 */
export function number(value, length) {
  const bytes = new Uint8Array(length);
  for (let at = length - 1, rest = value; at >= 0; at -= 1, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  return bytes;
}

/**
 * The length of a label in one byte, and the label.
 * @param {string} label
 */
export const labelled = (label) => Uint8Array.of(label.length, ...text.encode(label));

/**
 * The digest of concatenated bytes, after `before` others that led to `state`.
 * @type {(parts: Uint8Array[], state?: Int32Array, before?: number) => Uint8Array}
 */
function digest(parts, state = START, before = 0) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(Math.ceil((length + 9) / 64) * 64);
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  bytes[end] = 0x80;
  const view = new DataView(bytes.buffer);
  const bits = (before + length) * 8;
  view.setUint32(bytes.length - 8, Math.floor(bits / 2 ** 32));
  view.setUint32(bytes.length - 4, bits % 2 ** 32);
  const words = Int32Array.from(state);
  for (let at = 0; at < bytes.length; at += 64) compress(words, view, at);
  const found = new DataView(new ArrayBuffer(32));
  for (const [at, word] of words.entries()) found.setInt32(at * 4, word);
  return new Uint8Array(found.buffer);
}

/**
 * SHA-256 of concatenated bytes.
 * @param {Uint8Array[]} parts
 */
export const sha256 = (...parts) => digest(parts);

/**
 * HMAC-SHA256 under a key of 32 bytes. The key is hashed once.
 * @type {(key: Uint8Array) => (...parts: Uint8Array[]) => Uint8Array}
 */
export function hmac(key) {
  const padded = (/** @type {number} */ byte) => {
    const state = Int32Array.from(START);
    compress(state, new DataView(Uint8Array.from({ length: 64 }, (_, at) => byte ^ (key[at] ?? 0)).buffer), 0);
    return state;
  };
  const [inner, outer] = [padded(0x36), padded(0x5c)];
  return (...parts) => digest([digest(parts, inner, 64)], outer, 64);
}
