// SHA-256 for the proof of work and for checking draws and places, of the client and of the pages. WebCrypto returns each digest
// through a promise, which costs ten times as much as the digest: a million tries would take a phone minutes instead of seconds.

const K = new Int32Array(64);
/** The initial state of every digest. */
export const START = new Int32Array(8);
const words = new Int32Array(64);

// The fractional parts of the roots of the first primes, as the standard defines.
for (let candidate = 2, count = 0; count < 64; candidate += 1) {
  let prime = true;
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) prime &&= candidate % divisor !== 0;
  if (!prime) continue;
  const part = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  if (count < 8) START[count] = part(Math.sqrt(candidate));
  K[count] = part(Math.cbrt(candidate));
  count += 1;
}

/** Three blocks, without the byte and the length after the text. */
const MOST_CHARACTERS = 3 * 64 - 9;

/** A buffer for texts that begin with `prefix`, which is ASCII. */
export function message(prefix) {
  const bytes = new Uint8Array(3 * 64);
  for (let at = 0; at < prefix.length; at += 1) bytes[at] = prefix.charCodeAt(at);
  return { bytes, view: new DataView(bytes.buffer), prefix: prefix.length };
}

/** The digest of the prefix and `end`, which is ASCII too; at most 183 characters together. */
export function sha256({ bytes, view, prefix }, end) {
  const length = prefix + end.length;
  if (length > MOST_CHARACTERS) throw new RangeError(`${length} characters, and at most ${MOST_CHARACTERS} can be hashed`);
  const blocks = (length + 9 + 63) >> 6;
  for (let at = 0; at < end.length; at += 1) bytes[prefix + at] = end.charCodeAt(at);
  bytes[length] = 0x80;
  bytes.fill(0, length + 1, blocks * 64);
  view.setUint32(blocks * 64 - 4, length * 8);
  const state = Int32Array.from(START);
  for (let block = 0; block < blocks; block += 1) compress(state, view, block * 64);
  return state;
}

/** Zero bits at the start of a digest, 32 at most. */
export const leadingZeros = (digest) => Math.clz32(digest[0]);

/** Adds the 64 bytes of `view` from `from` on to the state. */
export function compress(state, view, from) {
  for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(from + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = words[i - 15];
    const y = words[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, i] = state;
  for (let n = 0; n < 64; n += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (i + s1 + ((e & f) ^ (~e & g)) + K[n] + words[n]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    i = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  const last = [a, b, c, d, e, f, g, i];
  for (let n = 0; n < 8; n += 1) state[n] = (state[n] + last[n]) | 0;
}
