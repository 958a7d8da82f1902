// Checks a draw from public data alone: a second implementation of docs/draws.md, which defines every byte. It leaves out proofs of
// inclusion. The first one is shared/sale/src/award; shared/sale/award_vectors.json tests both. Runs in browsers and in Node.

import { bytesOf, hexOf, hmac, labelled, number, sha256 } from '../../clients/typescript/src/hash.js';

export { bytesOf, hexOf, number, sha256 };

const ROUNDS = 90;
const BLOCK = 256;
const CHUNK_VALUES = 4096;
const MAX_PARTS = 1_000_000;
const MAX_TOTAL = 1_000_000_000_000;
const MAX_TICKETS = 10_000_000;
const MAX_PRIZE_KINDS = 1_000;
/** The value of a ticket that won nothing. */
export const BLANK = 0;

const text = new TextEncoder();

/** The key of a round's shuffle. The beacon is null if there is none. */
export function shuffleKey(seedHex, beaconHex) {
  const mac = hmac(bytesOf(seedHex));
  const label = labelled('award/1/shuffle');
  return beaconHex === null ? mac(label, Uint8Array.of(0)) : mac(label, Uint8Array.of(1), bytesOf(beaconHex));
}

/** The shuffle of `count` positions: `compute_shuffled_index` of the Ethereum consensus specification. */
export class Shuffle {
  /** Digests by round and block: 256 positions share one. */
  #sources = new Map();

  constructor(count, key) {
    this.count = count;
    this.key = key;
    this.pivots = Array.from({ length: ROUNDS }, (_, round) => {
      const first = new DataView(sha256(key, Uint8Array.of(round)).buffer).getBigUint64(0, true);
      return count === 0 ? 0 : Number(first % BigInt(count));
    });
  }

  /** The position of `index` after the shuffle. */
  shuffled(index) {
    if (!Number.isInteger(index) || index < 0 || index >= this.count) throw new RangeError('no such position');
    let place = index;
    for (let round = 0; round < ROUNDS; round += 1) place = this.step(place, round);
    return place;
  }

  step(index, round) {
    let flip = this.pivots[round] + this.count - index;
    if (flip >= this.count) flip -= this.count;
    const position = Math.max(index, flip);
    const byte = this.#source(round, Math.floor(position / BLOCK))[(position % BLOCK) >> 3];
    return (byte >> (position % 8)) & 1 ? flip : index;
  }

  #source(round, block) {
    const name = block * ROUNDS + round;
    if (!this.#sources.has(name)) this.#sources.set(name, sha256(this.key, Uint8Array.of(round, block, block >> 8, block >> 16, block >> 24)));
    return this.#sources.get(name);
  }
}

/** The random numbers that follow from a seed and a label. */
export class Stream {
  constructor(seedHex, label) {
    this.mac = hmac(bytesOf(seedHex));
    this.label = labelled(label);
    this.blocks = 0;
    this.at = 32;
  }

  word() {
    if (this.at === 32) {
      this.block = new DataView(this.mac(this.label, number(this.blocks, 8)).buffer);
      this.blocks += 1;
      this.at = 0;
    }
    this.at += 8;
    return this.block.getBigUint64(this.at - 8);
  }

  /** A number from 0 to `bound` - 1, both BigInt. */
  below(bound) {
    const limit = ((1n << 64n) / bound) * bound;
    let word = this.word();
    while (word >= limit) word = this.word();
    return word % bound;
  }
}

function check(plan) {
  const whole = (value, least, most) => {
    if (!Number.isSafeInteger(value) || value < least || value > most) throw new RangeError('a plan out of bounds');
  };
  if (plan.kind === 'equal' || plan.kind === 'drawn') {
    whole(plan.parts, 1, MAX_PARTS);
    whole(plan.min, 1, MAX_TOTAL);
    whole(plan.total, plan.parts * plan.min, MAX_TOTAL);
  } else if (plan.kind === 'prizes') {
    whole(plan.tickets, 0, MAX_TICKETS);
    whole(plan.counts.length, 0, MAX_PRIZE_KINDS);
    for (const count of plan.counts) whole(count, 0, 2 ** 32 - 1);
  } else {
    throw new RangeError('an unknown kind of plan');
  }
}

/** The plan of a round from what it publishes about its draw. */
export function planOf({ units, allocation }) {
  return allocation.kind === 'split'
    ? { kind: allocation.parts, total: allocation.total_minor, parts: units, min: allocation.min_minor }
    : { kind: 'prizes', counts: allocation.prizes.map(({ count }) => count), tickets: units };
}

/**
 * The table of a plan in generated order. A plan is `{kind: 'equal' | 'drawn', total, parts, min}` or
 * `{kind: 'prizes', counts, tickets}`. Throws a RangeError if it breaks a bound.
 */
export function tableOf(plan, seedHex) {
  check(plan);
  const table = new Array(plan.kind === 'prizes' ? plan.tickets : plan.parts).fill(BLANK);
  if (plan.kind === 'equal') {
    const more = plan.total % plan.parts;
    const each = (plan.total - more) / plan.parts;
    return table.map((_, part) => each + (part < more ? 1 : 0));
  }
  if (plan.kind === 'drawn') {
    const stream = new Stream(seedHex, 'award/1/split');
    let rest = plan.total - plan.parts * plan.min;
    return table.map((_, part) => {
      const left = plan.parts - part;
      // Exact in doubles: a quotient of integers this small is never rounded up to a whole number.
      const more = left > 1 ? Number(stream.below(BigInt(Math.floor((2 * rest) / left)) + 1n)) : rest;
      rest -= more;
      return plan.min + more;
    });
  }
  let at = 0;
  plan.counts.forEach((count, prize) => {
    const end = Math.min(at + count, table.length);
    table.fill(prize + 1, at, end);
    at = end;
  });
  return table;
}

/** What a unit (from 1) won: an amount in minor units, the number of a prize (from 1), or `BLANK`. */
export function awardOf(plan, seedHex, beaconHex, unit) {
  const table = tableOf(plan, seedHex);
  return table[new Shuffle(table.length, shuffleKey(seedHex, beaconHex)).shuffled(unit - 1)];
}

/** The digest of a table, in hex. */
export function digestOf(table) {
  const chunks = [];
  for (let from = 0; from < table.length; from += CHUNK_VALUES) {
    const values = table.slice(from, from + CHUNK_VALUES);
    const bytes = new Uint8Array(8 * values.length);
    values.forEach((value, at) => bytes.set(number(value, 8), 8 * at));
    chunks.push(sha256(labelled('award/1/chunk'), bytes));
  }
  return hexOf(sha256(labelled('award/1/table'), number(table.length, 4), ...chunks));
}

/** The commitment that the round published before it opened, in hex. */
export function commitment(sale, round, seedHex, digestHex) {
  const id = text.encode(sale);
  const parts = [number(id.length, 4), id, number(round, 4), bytesOf(seedHex), bytesOf(digestHex)];
  return hexOf(sha256(labelled('award/1/commitment'), ...parts));
}

const node = (left, right) => sha256(Uint8Array.of(1), left, right);

/** The root of the Merkle tree over leaves with these hashes, in hex. */
export function rootOfHashes(hashesHex) {
  if (hashesHex.length === 0) return hexOf(sha256());
  let level = hashesHex.map((hex) => bytesOf(hex));
  while (level.length > 1) {
    const below = level;
    level = [];
    for (let at = 0; at < below.length; at += 2) {
      level.push(at + 1 < below.length ? node(below[at], below[at + 1]) : below[at]);
    }
  }
  return hexOf(level[0]);
}
