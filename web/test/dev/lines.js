// The stand-in's lines, as specified in docs/line.md.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { admits, commitmentOf, placePpb, readTicket, WHOLE_PPB } from '../../../clients/typescript/src/place.js';

const KEY = randomBytes(32);
const SEAL = 32;
const HEAD = 15;
/** Shorter than in the real system, so that tests are quick. */
const POLL_MS = 400;
const POLL_BEFORE_MS = 30_000;
const POLL_GONE_MS = 60_000;
/** The longest gap between two requests that a line catches up on. */
const LONGEST_STEP_MS = 10_000;

function seal(sale, body) {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(sale.length));
  const tag = createHmac('sha256', KEY).update(length).update(sale).update(body).digest();
  return Buffer.concat([body, tag]).toString('base64url');
}

/** The sealed bytes; null if they were not sealed here for this sale. */
function open(sale, text) {
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (bytes.length <= SEAL) return null;
  const body = bytes.subarray(0, -SEAL);
  const again = Buffer.from(seal(sale, body), 'base64url');
  return timingSafeEqual(again, bytes) ? body : null;
}

/** A ticket without its seal; with a `second`, that of a late arrival. */
export function ticketBody(user, round, second) {
  const head = Buffer.alloc(HEAD);
  head[0] = 1;
  head[1] = 1;
  head[2] = second === null ? 0 : 1;
  head.writeUInt32BE(round, 3);
  head.writeBigUInt64BE(BigInt(second ?? 0), 7);
  return Buffer.concat([head, Buffer.from(user)]);
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
    return { ticket: seal(sale.sale_id, ticketBody(user, sale.round, second)), second };
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

  #watermark(line, now) {
    const isWhole = line.admitted >= line.early.size && line.at > 0;
    if (!isWhole) return { early: Math.floor((line.admitted / line.early.size) * WHOLE_PPB), lateS: 0, latePpb: 0 };
    const nowS = Math.floor(now / 1000);
    const next = this.#late(line)[Math.floor(line.lateAdmitted)];
    // More people may come in the current second, with places before those already known.
    return { early: WHOLE_PPB, lateS: next?.second ?? nowS, latePpb: next && next.second < nowS ? next.ppb : 0 };
  }

  /** The line's public document; `units` are those of the round: `{total, sold, mayReturn, free}`. */
  document(sale, units, state) {
    const now = Date.now();
    const [opens, perS] = [Date.parse(sale.opens_at), sale.line.paused || state === 'paused' ? 0 : sale.line.admits_per_s];
    const isOpen = now >= opens;
    const line = isOpen ? this.#advance(sale, { free: units.free, perS }) : this.of(sale);
    const is = !isOpen ? 'before' : state === 'closed' ? 'ended' : units.free <= 0 ? 'sold_out' : perS === 0 ? 'paused' : 'moving';
    const isGone = is === 'sold_out' && units.mayReturn === 0 && units.sold >= units.total;
    const watermark = isOpen ? this.#watermark(line, now) : { early: 0, lateS: 0, latePpb: 0 };
    return {
      sale: sale.sale_id, round: sale.round, state: is,
      commitment: commitmentOf(sale.sale_id, sale.round, line.seed), seed: isOpen ? line.seed : null,
      opens_at: sale.opens_at, tickets_from: new Date(Lines.ticketsFrom(sale)).toISOString(),
      people: { estimate: line.early.size, error_percent: 2, late: line.late.size },
      admitted: {
        early_ppb: watermark.early, late_until: watermark.lateS > 0 ? new Date(watermark.lateS * 1000).toISOString() : null, late_ppb: watermark.latePpb,
        late: isOpen ? Math.floor(line.lateAdmitted) : 0, per_s: isOpen ? perS : 0, as_of: new Date(now).toISOString(),
      },
      units: { total: units.total, sold: units.sold, may_return: units.mayReturn },
      poll_after_ms: is === 'ended' ? 0 : isGone ? POLL_GONE_MS : isOpen ? POLL_MS : Math.min(POLL_BEFORE_MS, Math.max(POLL_MS, opens - now)),
      watermark: isOpen ? seal(sale.sale_id, Buffer.from(JSON.stringify({ round: sale.round, ...watermark }))) : null,
    };
  }

  /** The reason to refuse a user's request: `no_ticket` or `not_your_turn`; null if it is the user's turn. */
  refuses(sale, user, { 'x-line-ticket': shown, 'x-line-watermark': watermark }) {
    if (!sale.line) return null;
    const { round, second, user: of } = (open(sale.sale_id, shown) && readTicket(shown)) ?? {};
    if (round !== sale.round || of !== user) return 'no_ticket';
    const reached = JSON.parse(open(sale.sale_id, watermark) ?? '{}');
    if (reached.round !== sale.round) return 'not_your_turn';
    const ppb = placePpb(this.of(sale).seed, user);
    const until = reached.lateS > 0 ? new Date(reached.lateS * 1000).toISOString() : null;
    return admits({ early_ppb: reached.early, late_until: until, late_ppb: reached.latePpb }, { second }, ppb) ? null : 'not_your_turn';
  }
}
