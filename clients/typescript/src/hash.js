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
export function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

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

/** SHA-256 with incremental input. */
export class Hash {
  constructor(state = START, length = 0) {
    this.state = Int32Array.from(state);
    this.block = new Uint8Array(64);
    this.view = new DataView(this.block.buffer);
    this.length = length;
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    for (let from = 0; from < bytes.length; ) {
      const at = this.length % 64;
      const taken = Math.min(64 - at, bytes.length - from);
      this.block.set(bytes.subarray(from, from + taken), at);
      this.length += taken;
      from += taken;
      if (this.length % 64 === 0) compress(this.state, this.view, 0);
    }
    return this;
  }

  digest() {
    const bits = this.length * 8;
    this.update(Uint8Array.of(0x80));
    if (this.length % 64 > 56) this.update(new Uint8Array(64 - (this.length % 64)));
    this.block.fill(0, this.length % 64);
    this.view.setUint32(56, Math.floor(bits / 2 ** 32));
    this.view.setUint32(60, bits % 2 ** 32);
    compress(this.state, this.view, 0);
    const digest = new Uint8Array(32);
    const view = new DataView(digest.buffer);
    for (const [at, word] of this.state.entries()) view.setInt32(at * 4, word);
    return digest;
  }
}

/**
 * SHA-256 of concatenated bytes.
 * @param {Uint8Array[]} parts
 */
export const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), new Hash()).digest();

/**
 * HMAC-SHA256 under a key of 32 bytes. The key is hashed once.
 * @type {(key: Uint8Array) => (...parts: Uint8Array[]) => Uint8Array}
 */
export function hmac(key) {
  const padded = (/** @type {number} */ byte) => new Hash().update(Uint8Array.from({ length: 64 }, (_, at) => byte ^ (key[at] ?? 0))).state;
  const [inner, outer] = [padded(0x36), padded(0x5c)];
  return (...parts) => {
    const digest = parts.reduce((hash, part) => hash.update(part), new Hash(inner, 64)).digest();
    return new Hash(outer, 64).update(digest).digest();
  };
}
