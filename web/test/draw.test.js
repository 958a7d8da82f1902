// Tests the second implementation of docs/draws.md against the results of the first one.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CHAIN_HASH, atMs, holds, isSigned, namedAt, randomnessOf } from '../js/drand.js';
import {
  BLANK, Shuffle, Stream, awardOf, bytesOf, commitment, digestOf, hexOf, rootOfHashes, sha256, shuffleKey, tableOf,
} from '../js/draw.js';

const vectors = JSON.parse(readFileSync(new URL('../../shared/sale/award_vectors.json', import.meta.url), 'utf8'));
const { draws } = vectors;

/** Counts the vectors, so that an empty list does not pass. */
test('the vectors are all there', () => {
  expect(Object.fromEntries(Object.entries(vectors).map(([name, of]) => [name, of.length])))
    .toEqual({ shuffles: 6, keys: 2, streams: 6, draws: 12, trees: 6, beacons: 2 });
  expect(draws.some(({ awards }) => awards?.length === 1_000)).toBe(true);
  expect(draws.some(({ plan }) => plan.parts === 100_000)).toBe(true);
});

test.each(vectors.shuffles)('the shuffle of $count', ({ key, count, places }) => {
  const shuffle = new Shuffle(count, bytesOf(key));
  expect(places.map((_, index) => shuffle.shuffled(index))).toEqual(places);
  expect(() => shuffle.shuffled(count)).toThrow(RangeError);
});

test.each(vectors.keys)('the key with beacon $beacon', ({ seed, beacon, key }) => {
  expect(hexOf(shuffleKey(seed, beacon))).toBe(key);
});

test.each(vectors.streams)('numbers below $bound', ({ seed, label, bound, numbers }) => {
  const stream = new Stream(seed, label);
  expect(numbers.map(() => String(stream.below(BigInt(bound))))).toEqual(numbers);
});

describe.each(draws)('$sale, round $round', (draw) => {
  const { sale, round, seed, beacon, plan, values, digest, awards, awards_digest } = draw;

  test('has this table, digest and commitment', () => {
    const table = tableOf(plan, seed);
    if (values) expect(table).toEqual(values);
    if (plan.total) expect(table.reduce((sum, value) => sum + value)).toBe(plan.total);
    expect(digestOf(table)).toBe(digest);
    expect(commitment(sale, round, seed, digest)).toBe(draw.commitment);
  });

  test('has these awards', () => {
    const table = tableOf(plan, seed);
    const shuffle = new Shuffle(table.length, shuffleKey(seed, beacon));
    const found = table.map((_, at) => table[shuffle.shuffled(at)]);
    if (awards) expect(found).toEqual(awards);
    expect(digestOf(found)).toBe(awards_digest);
    for (const unit of awards ? [1, Math.ceil(found.length / 2), found.length] : [found.length]) {
      expect(awardOf(plan, seed, beacon, unit)).toBe(found[unit - 1]);
    }
    if (draw.winners) {
      const won = found.map((prize, at) => [at + 1, prize]).filter(([, prize]) => prize !== BLANK);
      expect(won).toEqual(draw.winners.toSorted(([one], [other]) => one - other));
    }
  });
});

describe('beacons', () => {
  const [beacon, other] = vectors.beacons;

  test('drand’s signatures are valid for their rounds and no others', () => {
    for (const { drand_round: round, at_s: at, signature, randomness } of vectors.beacons) {
      expect(isSigned(round, signature)).toBe(true);
      expect(isSigned(round + 1, signature)).toBe(false);
      expect(randomnessOf(signature)).toBe(randomness);
      expect(atMs(round)).toBe(at * 1000);
    }
    expect(isSigned(beacon.drand_round, other.signature)).toBe(false);
    const flipped = beacon.signature.slice(0, -1) + (beacon.signature.endsWith('9') ? '8' : '9');
    for (const wrong of [flipped, '0'.repeat(96), `c0${'0'.repeat(94)}`, 'f'.repeat(96), '', null]) expect(isSigned(beacon.drand_round, wrong)).toBe(false);
    // The generator of G2, which is the public key for the secret 1.
    const key = '93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8';
    expect(isSigned(beacon.drand_round, beacon.signature, key)).toBe(false);
  });

  test('a draw names the first round at least a minute later', () => {
    const first = atMs(1);
    expect([0, first - 60_000, first - 59_999, first - 57_000, first - 56_999].map(namedAt)).toEqual([1, 1, 2, 2, 3]);
  });

  test('a public draw is valid if its beacon is', () => {
    const { drand_round: round, signature, randomness } = beacon;
    const closed = new Date(atMs(round) - 61_000).toISOString();
    const draw = {
      drand: { chain_hash: CHAIN_HASH, round, at: new Date(atMs(round)).toISOString() }, beacon: { signature, randomness },
      closes_at: closed, at_end: { closed: { at: closed } },
    };
    expect(holds(draw)).toBe(true);
    const instant = { ...draw, at_end: undefined, closes_at: new Date(atMs(round) + 1).toISOString() };
    expect(holds(instant)).toBe(true);
    const next = { ...draw.drand, round: round + 1, at: new Date(atMs(round + 1)).toISOString() };
    for (const wrong of [
      { ...draw, drand: next }, { ...draw, drand: { ...draw.drand, round: round + 1 } }, { ...draw, drand: { ...draw.drand, chain_hash: randomness } },
      { ...draw, beacon: { signature, randomness: other.randomness } }, { ...draw, beacon: { ...other } },
      { ...draw, at_end: { closed: { at: new Date(atMs(round) - 64_000).toISOString() } } },
      { ...instant, closes_at: draw.drand.at },
    ]) expect(holds(wrong)).toBe(false);
  });
});

test('invalid draws are refused', () => {
  const { plan, seed } = draws[0];
  for (const change of [
    { parts: 0 }, { parts: 1_000_001 }, { parts: 1.5 }, { min: 0 }, { total: 9 }, { total: 1e12 + 1 }, { total: '1000' }, { kind: 'x' },
  ]) expect(() => tableOf({ ...plan, ...change }, seed)).toThrow(RangeError);
  for (const change of [{ counts: [-1], tickets: 3 }, { counts: Array(1_001).fill(1), tickets: 3 }, { counts: [1], tickets: 1e7 + 1 }]) {
    expect(() => tableOf({ kind: 'prizes', ...change }, seed)).toThrow(RangeError);
  }
  for (const hex of [seed.toUpperCase(), seed.slice(2), `${seed}00`, null]) expect(() => tableOf(plan, hex)).toThrow(RangeError);
  for (const unit of [0, 11, 1.5, undefined]) expect(() => awardOf(plan, seed, null, unit)).toThrow(RangeError);
});

test.each(vectors.trees)('the root of a tree of $entries.length', ({ entries, root }) => {
  const leaf = ([unit, reservation]) => {
    const entry = Buffer.from(`    ${reservation}`);
    entry.writeUInt32BE(unit);
    return createHash('sha256').update(Uint8Array.of(0)).update(entry).digest('hex');
  };
  expect(rootOfHashes(entries.map(leaf))).toBe(root);
});

test('SHA-256 is correct at any length', () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = Buffer.alloc(length, 'x');
    expect(hexOf(sha256(bytes.subarray(0, 1), bytes.subarray(1)))).toBe(createHash('sha256').update(bytes).digest('hex'));
  }
});
