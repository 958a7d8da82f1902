// SHA-256 of short texts, for the proof of work. WebCrypto returns each digest through a promise, which costs ten times as much as the
// digest itself.

const ROUND_CONSTANTS = new Int32Array(64);
const START = new Int32Array(8);
const words = new Int32Array(64);

// The fractional parts of the roots of the first primes (FIPS 180-4, 4.2.2 and 5.3.3).
for (let candidate = 2, count = 0; count < 64; candidate += 1) {
  let prime = true;
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) prime &&= candidate % divisor !== 0;
  if (!prime) continue;
  const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  if (count < 8) START[count] = fraction(Math.sqrt(candidate));
  ROUND_CONSTANTS[count] = fraction(Math.cbrt(candidate));
  count += 1;
}

/** Maximum length of a text, in characters. */
const MAX_LENGTH = 119;

/** A text with a fixed beginning and a changing end. */
export class Message {
  readonly #bytes = new Uint8Array(128);
  readonly #view = new DataView(this.#bytes.buffer);
  readonly #prefix: number;

  /** `prefix` is ASCII. */
  constructor(prefix: string) {
    this.#prefix = prefix.length;
    if (prefix.length > MAX_LENGTH) throw new RangeError('the prefix is too long');
    for (let at = 0; at < prefix.length; at += 1) this.#bytes[at] = prefix.charCodeAt(at);
  }

  /** The first 32 bits of the digest of the prefix followed by `end`. Both are ASCII, with at most 119 characters together. */
  digestHead(end: string): number {
    const length = this.#prefix + end.length;
    if (length > MAX_LENGTH) throw new RangeError('the text is too long');
    const size = length + 9 > 64 ? 128 : 64;
    for (let at = 0; at < end.length; at += 1) this.#bytes[this.#prefix + at] = end.charCodeAt(at);
    this.#bytes[length] = 0x80;
    this.#bytes.fill(0, length + 1, size);
    this.#view.setUint32(size - 4, length * 8);
    const state = Int32Array.from(START);
    for (let block = 0; block < size; block += 64) compress(state, this.#view, block);
    return (state[0] as number) >>> 0;
  }
}

function compress(state: Int32Array, view: DataView, from: number): void {
  const at = (index: number) => words[index] as number;
  for (let n = 0; n < 16; n += 1) words[n] = view.getInt32(from + n * 4);
  for (let n = 16; n < 64; n += 1) {
    const x = at(n - 15);
    const y = at(n - 2);
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[n] = (at(n - 16) + s0 + at(n - 7) + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let n = 0; n < 64; n += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND_CONSTANTS[n] as number) + at(n)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((value, n) => {
    state[n] = ((state[n] as number) + value) | 0;
  });
}
