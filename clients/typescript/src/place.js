// A user's place in the line of a sale, from public data and a ticket, for the client and the pages: a second implementation of
// docs/line.md. The first one is shared/pass/src/line; shared/pass/line_vectors.json tests both. Runs in browsers and in Node.
// @ts-check

import { bytesOf, hexOf, hmac, labelled, number, sha256 } from './hash.js';

/** @typedef {import('./openapi.js').components['schemas']['Line']} LineDocument */
/** @typedef {{ from: number; to: number }} Range Inclusive. */
/** @typedef {{ round: number; second: number | null; user: string }} Place `second` is since the Unix epoch; early users have none. */

/** All early places, in parts per billion. */
export const WHOLE_PPB = 1_000_000_000;
/** Version, number of the key, class, round (4 bytes), second (8 bytes). The user's id follows, and then the seal. */
const HEAD = 15;
const SEAL = 32;

const text = new TextEncoder();

/**
 * The content of a ticket; null if this is none, or one of a later version.
 * @param {string} sealed
 * @returns {Place | null}
 */
export function readTicket(sealed) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(sealed.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
  const view = new DataView(bytes.buffer);
  if (bytes.length <= HEAD + SEAL || bytes[0] !== 1 || view.getUint8(2) > 1) return null;
  const second = bytes[2] === 0 ? null : Number(view.getBigUint64(7));
  return { round: view.getUint32(3), second, user: new TextDecoder().decode(bytes.subarray(HEAD, -SEAL)) };
}

/**
 * The place of a user among all who came at the same time, in parts per billion. Lower ones come first.
 * @type {(seedHex: string, user: string) => number}
 */
export function placePpb(seedHex, user) {
  const order = hmac(bytesOf(seedHex))(labelled('line/1/order'));
  const place = new DataView(hmac(order)(text.encode(user)).buffer).getBigUint64(0);
  return Number((place * BigInt(WHOLE_PPB)) >> 64n);
}

/**
 * The commitment of a round, in hex.
 * @type {(sale: string, round: number, seedHex: string) => string}
 */
export function commitmentOf(sale, round, seedHex) {
  const id = text.encode(sale);
  return hexOf(sha256(labelled('line/1/commitment'), number(id.length, 4), id, number(round, 4), bytesOf(seedHex)));
}

/**
 * Whether the holder of this ticket and place is admitted.
 * @type {(admitted: LineDocument['admitted'], ticket: Pick<Place, 'second'>, ppb: number) => boolean}
 */
export function admits({ early_ppb: early, late_until: until, late_ppb: late }, { second }, ppb) {
  if (second === null) return ppb < early;
  const reached = until === null ? 0 : Math.floor(Date.parse(until) / 1000);
  return early >= WHOLE_PPB && (second < reached || (second === reached && ppb < late));
}

/**
 * What is known of a line after another document: caches may answer in the wrong order, but a line never goes back, and a user who is
 * admitted stays admitted.
 * @type {(known: LineDocument | null, line: LineDocument) => LineDocument}
 */
export function further(known, line) {
  if (!known?.seed) return line;
  if (line.seed === null || Date.parse(line.admitted.as_of) < Date.parse(known.admitted.as_of)) return known;
  if (line.seed !== known.seed) return line;
  /** @type {(line: LineDocument) => number[]} */
  const far = ({ admitted }) => [admitted.early_ppb, admitted.late_until === null ? 0 : Date.parse(admitted.late_until), admitted.late_ppb];
  const [one, other] = [far(known), far(line)];
  const ahead = one.map((value, n) => value - (other[n] ?? 0)).find((by) => by !== 0) ?? 0;
  if (ahead <= 0) return line;
  const { early_ppb, late_until, late_ppb } = known.admitted;
  return { ...line, watermark: known.watermark, admitted: { ...line.admitted, early_ppb, late_until, late_ppb } };
}

/**
 * Estimates how many of the early arrivals are ahead of a place: two standard deviations, plus the error of the count.
 * @type {(ppb: number, people: number, errorPercent: number) => Range}
 */
export function rankOfEarly(ppb, people, errorPercent) {
  const [part, whole] = [BigInt(ppb), BigInt(WHOLE_PPB)];
  const few = Math.floor((people * (100 - errorPercent)) / 100);
  const many = Math.ceil((people * (100 + errorPercent)) / 100);
  const before = (/** @type {number} */ n) => Number((part * BigInt(n)) / whole);
  const variance = (/** @type {number} */ n) => Number((((part * (whole - part)) / whole) * BigInt(n)) / whole);
  const spread = (/** @type {number} */ n) => 2 * Math.floor(Math.sqrt(variance(n))) + 1;
  return { from: Math.max(0, before(few) - spread(few)), to: Math.min(before(many) + spread(many), many) };
}

/**
 * Estimates the seconds until a rank is admitted, given that `admitted` are and `perS` more follow each second; null while none are.
 * @type {(rank: Range, admitted: Range, perS: number) => Range | null}
 */
export function waitS(rank, admitted, perS) {
  if (perS === 0) return null;
  const from = Math.floor(Math.max(0, rank.from - admitted.to) / perS);
  return { from, to: Math.max(from, Math.ceil(Math.max(0, rank.to - admitted.from) / perS)) };
}

/**
 * Estimates how many people are still ahead of a user: those with places between the watermark and the user's. For late arrivals
 * these are all remaining early arrivals, and, of the at most `late` others who had come by the end of the same second, those who are not
 * admitted yet.
 * @type {(line: LineDocument, ticket: Pick<Place, 'second'>, ppb: number, late?: number) => Range}
 */
export function before({ people, admitted }, { second }, ppb, late = people.late) {
  const left = (/** @type {number} */ upTo) =>
    upTo <= admitted.early_ppb ? { from: 0, to: 0 } : rankOfEarly(upTo - admitted.early_ppb, people.estimate, people.error_percent);
  if (second === null) return left(ppb);
  const early = left(WHOLE_PPB);
  return { from: early.from, to: early.to + Math.max(0, late - admitted.late) };
}

/**
 * A range with fewer digits, never a narrower one.
 * @type {(range: Range) => Range}
 */
export function rounded({ from, to }) {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, to - from))) - 1);
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step };
}

/**
 * Estimates a place among all early arrivals, from 1.
 * @type {(line: LineDocument, ppb: number) => Range}
 */
export function placeOf({ people }, ppb) {
  const { from, to } = rankOfEarly(ppb, people.estimate, people.error_percent);
  const place = rounded({ from: from + 1, to: Math.max(from + 1, to) });
  return { from: Math.max(1, place.from), to: place.to };
}
