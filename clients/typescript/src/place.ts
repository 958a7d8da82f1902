// A user's place in a line, from public data and the ticket: docs/line.md. Tested against
// shared/pass/line_vectors.json, like every implementation.

import type { components } from './openapi.js';

type LineDocument = components['schemas']['Line'];

/** Inclusive. */
export interface Range {
  from: number;
  to: number;
}

/** What a ticket says. */
export interface Place {
  round: number;
  /** The second since the Unix epoch in which a late user came; null for an early one. */
  second: number | null;
  user: string;
}

/** All early places, in parts per billion. */
const WHOLE_PPB = 1_000_000_000;
/** Version, number of the key, class, round (4 bytes), second (8 bytes). The user's id follows, and then the seal. */
const HEAD = 15;
const SEAL = 32;
const ORDER = '\x0cline/1/order';
const COMMITMENT = '\x11line/1/commitment';

const text = new TextEncoder();

/** The content of a ticket; null if this is none, or one of a later version. */
export function readTicket(ticket: string): Place | null {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(ticket.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
  const kind = bytes[2] ?? 2;
  if (bytes.length <= HEAD + SEAL || bytes[0] !== 1 || kind > 1) return null;
  const view = new DataView(bytes.buffer);
  const second = kind === 0 ? null : Number(view.getBigUint64(7));
  return { round: view.getUint32(3), second, user: new TextDecoder().decode(bytes.subarray(HEAD, -SEAL)) };
}

/** The place among all who came at the same time, in parts per billion. Lower ones come first. */
export async function placePpb(seedHex: string, user: string): Promise<number> {
  const order = await hmac(bytesOf(seedHex), ORDER);
  const place = new DataView(await hmac(new Uint8Array(order), user)).getBigUint64(0);
  return Number((place * BigInt(WHOLE_PPB)) >> 64n);
}

/** What the system publishes before the opening if it will use this seed, in hex. */
export async function commitmentOf(sale: string, round: number, seedHex: string): Promise<string> {
  const id = text.encode(sale);
  const message = [...text.encode(COMMITMENT), ...number(id.length), ...id, ...number(round), ...bytesOf(seedHex)];
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(message)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Four bytes, big endian. */
function number(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Throws if no place can be computed here. */
export function requireCrypto(): void {
  // Browsers have it on https and on localhost only.
  if (!globalThis.crypto?.subtle) throw new Error('waiting in line needs crypto.subtle: open the app over https');
}

async function hmac(key: Uint8Array<ArrayBuffer>, data: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return crypto.subtle.sign('HMAC', imported, text.encode(data));
}

/** Whether the line has reached somebody. */
export function isAdmitted({ early_ppb, late_until, late_ppb }: LineDocument['admitted'], { second }: Place, ppb: number): boolean {
  if (second === null) return ppb < early_ppb;
  const reached = late_until === null ? 0 : Math.floor(Date.parse(late_until) / 1_000);
  return early_ppb >= WHOLE_PPB && (second < reached || (second === reached && ppb < late_ppb));
}

/** A later document that never goes behind an earlier one: whoever is admitted stays admitted. */
export function further(known: LineDocument, line: LineDocument): LineDocument {
  const far = ({ admitted }: LineDocument) => {
    const { early_ppb, late_until, late_ppb } = admitted;
    return [early_ppb, late_until === null ? 0 : Date.parse(late_until), late_ppb];
  };
  const [before, after] = [far(known), far(line)];
  const at = before.findIndex((value, n) => value !== after[n]);
  if (at === -1 || (before[at] as number) < (after[at] as number)) return line;
  const { early_ppb, late_until, late_ppb } = known.admitted;
  return { ...line, watermark: known.watermark, admitted: { ...line.admitted, early_ppb, late_until, late_ppb } };
}

/** How many of `people` are ahead of a place: two standard deviations, plus the error of the count. */
export function rankOfEarly(ppb: number, people: number, errorPercent: number): Range {
  const [part, whole] = [BigInt(ppb), BigInt(WHOLE_PPB)];
  const few = Math.floor((people * (100 - errorPercent)) / 100);
  const many = Math.ceil((people * (100 + errorPercent)) / 100);
  const ahead = (n: number) => Number((part * BigInt(n)) / whole);
  const variance = (n: number) => Number((((part * (whole - part)) / whole) * BigInt(n)) / whole);
  const spread = (n: number) => 2 * Math.floor(Math.sqrt(variance(n))) + 1;
  return { from: Math.max(0, ahead(few) - spread(few)), to: Math.min(ahead(many) + spread(many), many) };
}

/** The seconds until a rank is admitted if `admitted` people are and `perS` more follow each second; null if none do. */
export function waitS(rank: Range, admitted: Range, perS: number): Range | null {
  if (perS === 0) return null;
  const from = Math.floor(Math.max(0, rank.from - admitted.to) / perS);
  return { from, to: Math.max(from, Math.ceil(Math.max(0, rank.to - admitted.from) / perS)) };
}

/**
 * How many people are between the line's watermark and a place. For somebody late these are all early people who are left, and of the
 * late ones at most those who had come by the end of the same second (`lateBefore`), as far as they have not been admitted.
 */
export function beforeOf({ people, admitted }: LineDocument, { second }: Place, ppb: number, lateBefore = people.late): Range {
  const left = (upTo: number) =>
    upTo <= admitted.early_ppb ? { from: 0, to: 0 } : rankOfEarly(upTo - admitted.early_ppb, people.estimate, people.error_percent);
  if (second === null) return left(ppb);
  const early = left(WHOLE_PPB);
  return { from: early.from, to: early.to + Math.max(0, lateBefore - admitted.late) };
}

/** A range with fewer digits, never a narrower one. */
export function rounded({ from, to }: Range): Range {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, to - from))) - 1);
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step };
}
