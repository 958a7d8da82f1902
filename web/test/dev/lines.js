// The stand-in's lines, as specified in docs/line.md.

import { createHmac, randomBytes } from 'node:crypto';
import { admits, commitmentOf, placePpb, readTicket, WHOLE_PPB } from '../../../clients/typescript/src/place.js';

const KEY = randomBytes(32);
/** The last bytes of everything that is given out here for a sale. */
const sealOf = (sale) => createHmac('sha256', KEY).update(sale).digest();
const HEAD = 15;
/** Shorter than in the real system, so that tests are quick. */
const POLL_MS = 400;
const POLL_BEFORE_MS = 30_000;
const POLL_GONE_MS = 60_000;
/** The longest gap between two requests that a line catches up on. */
const LONGEST_STEP_MS = 10_000;

/** The bytes before the seal; null if they were not given out here, for this sale. */
function open(sale, text) {
  const [bytes, seal] = [Buffer.from(text ?? '', 'base64url'), sealOf(sale)];
  return bytes.subarray(-seal.length).equals(seal) ? bytes.subarray(0, -seal.length) : null;
}

/** A ticket; with a `second`, that of a late arrival. Without a seal it gets a fake one, for tests in which nobody checks it. */
export function ticketFor(user, round, second, seal = Buffer.alloc(32, 7)) {
  const head = Buffer.alloc(HEAD);
  head[0] = 1;
  head[1] = 1;
  head[2] = second === null ? 0 : 1;
  head.writeUInt32BE(round, 3);
  head.writeBigUInt64BE(BigInt(second ?? 0), 7);
  return Buffer.concat([head, Buffer.from(user), seal]).toString('base64url');
}

export class Lines {
  #lines = new Map();

  of(sale) {
    const id = `${sale.sale_id}.${sale.round}`;
    if (!this.#lines.has(id)) {
      this.#lines.set(id, { seed: randomBytes(32).toString('hex'), early: new Set(), late: new Map(), admitted: 0, lateAdmitted: 0, at: 0 });
    }
    return this.#lines.get(id);
  }

  static ticketsFrom({ opens_at: opens, line }) {
    return Date.parse(opens) - (line.opens_early_s ?? 3_600) * 1000;
  }

  /** The user's ticket, which is always the same: `{ticket, second}`. */
  join(sale, user) {
    const line = this.of(sale);
    const now = Date.now();
    if (now < Date.parse(sale.opens_at)) line.early.add(user);
    else if (!line.early.has(user) && !line.late.has(user)) line.late.set(user, Math.floor(now / 1000));
    const second = line.late.get(user) ?? null;
    return { ticket: ticketFor(user, sale.round, second, sealOf(sale.sale_id)), second };
  }

  /** Late arrivals in their order: `{second, ppb}`. */
  #late({ seed, late }) {
    const all = [...late].map(([user, second]) => ({ second, ppb: placePpb(seed, user) }));
    return all.sort((one, other) => one.second - other.second || one.ppb - other.ppb);
  }

  /** Moves a line on at its rate, while units are free. */
  #advance(sale, { free, perS }) {
    const line = this.of(sale);
    const now = Date.now();
    const ms = Math.min(LONGEST_STEP_MS, now - Math.max(line.at, Date.parse(sale.opens_at)));
    line.at = now;
    if (free <= 0 || perS === 0) return line;
    let budget = (perS * ms) / 1000;
    if (line.admitted < line.early.size) {
      const step = Math.min(budget, line.early.size - line.admitted);
      line.admitted += step;
      budget -= step;
    }
    if (line.admitted >= line.early.size) line.lateAdmitted = Math.min(line.late.size, line.lateAdmitted + budget);
    return line;
  }

  /** How far the line has come, as its document says it. */
  #reached(line, now) {
    const isWhole = line.admitted >= line.early.size && line.at > 0;
    if (!isWhole) return { early_ppb: Math.floor((line.admitted / line.early.size) * WHOLE_PPB), late_until: null, late_ppb: 0 };
    const nowS = Math.floor(now / 1000);
    const next = this.#late(line)[Math.floor(line.lateAdmitted)];
    // More people may come in the current second, with places before those already known.
    const until = new Date((next?.second ?? nowS) * 1000);
    return { early_ppb: WHOLE_PPB, late_until: until.toISOString(), late_ppb: next && next.second < nowS ? next.ppb : 0 };
  }

  /** The line's public document; `units` are those of the round: `{total, sold, mayReturn, free}`. */
  document(sale, units, state) {
    const now = Date.now();
    const [opens, perS] = [Date.parse(sale.opens_at), sale.line.paused || state === 'paused' ? 0 : sale.line.admits_per_s];
    const isOpen = now >= opens;
    const line = isOpen ? this.#advance(sale, { free: units.free, perS }) : this.of(sale);
    const is = !isOpen ? 'before' : state === 'closed' ? 'ended' : units.free <= 0 ? 'sold_out' : perS === 0 ? 'paused' : 'moving';
    const isGone = is === 'sold_out' && units.mayReturn === 0 && units.sold >= units.total;
    const reached = isOpen ? this.#reached(line, now) : { early_ppb: 0, late_until: null, late_ppb: 0 };
    const watermark = Buffer.concat([Buffer.from(JSON.stringify({ round: sale.round, ...reached })), sealOf(sale.sale_id)]).toString('base64url');
    return {
      sale: sale.sale_id, round: sale.round, state: is,
      commitment: commitmentOf(sale.sale_id, sale.round, line.seed), seed: isOpen ? line.seed : null,
      opens_at: sale.opens_at, tickets_from: new Date(Lines.ticketsFrom(sale)).toISOString(),
      people: { estimate: line.early.size, error_percent: 2, late: line.late.size },
      admitted: { ...reached, late: isOpen ? Math.floor(line.lateAdmitted) : 0, per_s: isOpen ? perS : 0, as_of: new Date(now).toISOString() },
      units: { total: units.total, sold: units.sold, may_return: units.mayReturn },
      poll_after_ms: is === 'ended' ? 0 : isGone ? POLL_GONE_MS : isOpen ? POLL_MS : Math.min(POLL_BEFORE_MS, Math.max(POLL_MS, opens - now)),
      watermark: isOpen ? watermark : null,
    };
  }

  /** The reason to refuse a user's request: `no_ticket` or `not_your_turn`; null if it is the user's turn. */
  refuses(sale, user, { 'x-line-ticket': shown, 'x-line-watermark': watermark }) {
    if (!sale.line) return null;
    const { round, second, user: holder } = (open(sale.sale_id, shown) && readTicket(shown)) ?? {};
    if (round !== sale.round || holder !== user) return 'no_ticket';
    const { round: of, ...admitted } = JSON.parse(open(sale.sale_id, watermark) ?? '{}');
    return of === sale.round && admits(admitted, { second }, placePpb(this.of(sale).seed, user)) ? null : 'not_your_turn';
  }
}
