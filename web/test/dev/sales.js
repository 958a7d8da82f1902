// Sales in memory, with just enough of the contract to build the page.

import { randomBytes } from 'node:crypto';
import { awardOf, commitment, digestOf, planOf, tableOf } from '../../js/draw.js';
import { Lines } from './lines.js';

/** Time that a reservation stays queued. */
const QUEUE_MS = 900;
const FEW_LEFT = 0.2;
/** Time from the end of a round until its seed is public: short, so that tests are quick; the real system waits a minute. */
const REVEAL_AFTER_MS = 1_500;
/** Statuses that hold a unit. */
const LIVE = ['queued', 'pending_payment', 'granted', 'paid'];

export class Answer extends Error {
  constructor(status, body, headers = {}) {
    super(body.code);
    Object.assign(this, { status, body, headers });
  }
}

export const problem = (status, code, more = {}, headers = {}) => new Answer(status, { status, title: code, code, ...more }, headers);

/** The header with the time to retry. */
const retryAfter = (at) => ({ 'retry-after': String(Math.min(300, Math.max(1, Math.ceil((at - Date.now()) / 1000)))) });

export class Sales {
  sales = new Map();
  campaigns = new Map();
  reservations = new Map();
  answers = {};
  blocked = new Map();
  /** Blocked addresses and networks. */
  networks = new Map();
  groups = new Map();
  stopped = { all: false, sales: new Set() };
  lines = new Lines();
  /** Called with `(user, reservation)` when an order changes. */
  changed = () => {};

  find(id) {
    const sale = this.sales.get(id);
    if (!sale) throw problem(404, 'unknown_sale');
    return sale;
  }

  mine(sale, user = null) {
    return [...this.reservations.values()].filter((one) => one.sale === sale.sale_id && (user === null || one.user === user));
  }

  /** The units that have become available by now, and when more do, in ms since the epoch. */
  rain(sale, now = Date.now()) {
    const { at_once: atOnce, steady, drops = [], from_ms: fromMs = 0 } = sale.rain;
    const opens = Date.parse(sale.opens_at);
    const since = now - opens;
    if (since < 0) return { dropped: 0, next: opens };
    const beats = steady ? Math.max(0, Math.floor((since - fromMs) / (steady.every_s * 1000))) : 0;
    const listed = drops.filter(({ after_s: after }) => after * 1000 <= since).reduce((sum, { units }) => sum + units, 0);
    const dropped = Math.min(sale.total, (atOnce ?? 0) + listed + beats * (steady?.units ?? 0));
    const ahead = [
      ...drops.map(({ after_s: after }) => after * 1000).filter((at) => at > since),
      ...(steady ? [fromMs + steady.every_s * 1000 * (beats + 1)] : []),
    ].map((at) => opens + at).filter((at) => at < Date.parse(sale.closes_at));
    return { dropped, next: dropped < sale.total && ahead.length ? Math.min(...ahead) : null };
  }

  /** The units that have become available, taken or not. */
  out(sale) {
    return sale.rain ? this.rain(sale).dropped : sale.total;
  }

  /** When more becomes available, as a field of answers. */
  nextRelease(sale) {
    const next = sale.rain ? this.rain(sale).next : null;
    return next === null ? {} : { next_release_at: new Date(next).toISOString() };
  }

  soldOut(sale) {
    const more = this.nextRelease(sale);
    return problem(409, 'sold_out', more, more.next_release_at ? retryAfter(Date.parse(more.next_release_at)) : {});
  }

  taken(sale) {
    return this.mine(sale).filter(({ view }) => LIVE.includes(view.status)).length;
  }

  state(sale, now = Date.now()) {
    if (now >= Date.parse(sale.closes_at)) return 'closed';
    if (sale.paused || this.stopped.all || this.stopped.sales.has(sale.sale_id)) return 'paused';
    return now < Date.parse(sale.opens_at) ? 'upcoming' : 'open';
  }

  /** The sales of the front page, open ones first. */
  front() {
    const now = Date.now();
    const place = ({ opens_at: opens, closes_at: closes }) => {
      const [from, to] = [Date.parse(opens), Date.parse(closes)];
      return to <= now ? [2, -to] : from <= now ? [0, to] : [1, from];
    };
    const before = ([one, at], [other, then]) => one - other || at - then;
    const all = [...this.sales.values()].filter(({ state, gate }) => state === 'published' && !gate?.groups_see?.length);
    return all.sort((one, other) => before(place(one), place(other)));
  }

  /** The fields that only a sale's own page has. */
  goods({ description, pictures, terms_url }) {
    return { ...(description ? { description } : {}), ...(pictures?.length ? { pictures } : {}), ...(terms_url ? { terms_url } : {}) };
  }

  card(sale) {
    const free = this.out(sale) - this.taken(sale);
    const state = this.state(sale);
    const running = state === 'open' || state === 'paused';
    const { sale_id, title, round, opens_at, closes_at, price_minor, currency, per_user_limit, payment_window_s, list_price_minor, pictures = [] } = sale;
    return {
      sale_id, title, round, state, opens_at, closes_at, price_minor, currency, per_user_limit, payment_window_s,
      ...(list_price_minor ? { list_price_minor } : {}), ...(pictures.length ? { picture: pictures[0] } : {}),
      settlement: sale.settlement ?? 'paid', ...(sale.seed ? { draw: this.drawTerms(sale) } : {}),
      ...(sale.early_access?.length ? { early_access: this.early(sale) } : {}),
      ...(sale.line ? { line: { tickets_from: new Date(Lines.ticketsFrom(sale)).toISOString() } } : {}),
      ...(sale.rain ? { rain: { units: sale.total, dropped: state === 'upcoming' ? 0 : this.rain(sale).dropped } } : {}),
      ...(running ? this.nextRelease(sale) : {}),
      availability: state === 'upcoming' ? 'available' : free <= 0 ? 'sold_out' : free <= sale.total * FEW_LEFT ? 'few_left' : 'available',
    };
  }

  ticket(sale, user) {
    if (!sale.line) throw problem(404, 'unknown_sale', { detail: 'the sale has no line' });
    if ((this.blocked.get(user)?.until_ms ?? 0) > Date.now()) throw problem(403, 'blocked');
    if (Date.now() >= Date.parse(sale.closes_at)) throw problem(410, 'closed');
    const from = Lines.ticketsFrom(sale);
    if (Date.now() < from) throw problem(409, 'not_open', { opens_at: new Date(from).toISOString() }, retryAfter(from));
    const { ticket, second } = this.lines.join(sale, user);
    return {
      ticket, sale_id: sale.sale_id, round: sale.round, opens_at: sale.opens_at, line_path: `/v1/sales/${sale.sale_id}/line`,
      ...(second === null ? { class: 'early' } : { class: 'late', came_at: new Date(second * 1000).toISOString() }),
    };
  }

  line(sale) {
    if (!sale.line) throw problem(404, 'unknown_sale', { detail: 'the sale has no line' });
    const { held, ordered, paid } = this.units(sale);
    const sold = held + ordered + paid;
    const mayReturn = sale.settlement === 'free' ? 0 : held + ordered;
    return this.lines.document(sale, { total: sale.total, sold, mayReturn, free: this.out(sale) - sold }, this.state(sale));
  }

  /** Refuses a challenge or a pass to users whose turn it is not. */
  inTurn(sale, user, headers) {
    const refused = this.lines.refuses(sale, user, headers);
    const path = `/v1/sales/${sale.sale_id}`;
    if (refused === 'no_ticket') throw problem(403, refused, { tickets_path: `${path}/tickets` });
    if (refused) throw problem(409, refused, { line_path: `${path}/line` }, { 'retry-after': '2' });
  }

  early({ opens_at: opens, early_access: all }) {
    const at = (s) => new Date(Date.parse(opens) + s * 1000).toISOString();
    return all.map(({ group, lead_s: lead, quota }) => ({ group, opens_at: at(-lead), ...(quota ? { quota_until: at(quota.for_s) } : {}) }));
  }

  classOf({ early_access: all = [] }, user) {
    const mine = all.filter(({ group }) => this.groups.get(group)?.has(user));
    return { leadMs: 1000 * Math.max(0, ...mine.map(({ lead_s: lead }) => lead)), hasQuota: mine.some(({ quota }) => quota) };
  }

  /** What is left of the quota now, and until when it lasts; null if there is none, or if everyone may have it. */
  quota(sale) {
    const { units, for_s: lasts } = sale.early_access?.find(({ quota }) => quota)?.quota ?? {};
    const until = Date.parse(sale.opens_at) + lasts * 1000;
    if (!units || Date.now() >= until) return null;
    const used = this.mine(sale).filter(({ ofQuota, view }) => ofQuota && LIVE.includes(view.status)).length;
    return { left: units - used, until };
  }

  /** Refuses users outside the group if the remaining units are its quota. */
  leave(sale, user) {
    const quota = this.quota(sale);
    const free = sale.total - this.taken(sale);
    if (!quota || free <= 0 || free > quota.left || this.classOf(sale, user).hasQuota) return;
    throw problem(409, 'sold_out', { next_release_at: new Date(quota.until).toISOString() }, retryAfter(quota.until));
  }

  /** Draws the seed of a sale whose units differ, as on publication. */
  commit(sale) {
    if ((sale.allocation?.kind ?? 'units') !== 'units') sale.seed ??= randomBytes(32).toString('hex');
  }

  drawTerms(sale) {
    const { sale_id: id, round, seed, total: units, allocation } = sale;
    sale.commitment ??= commitment(id, round, seed, digestOf(tableOf(planOf({ units, allocation }), seed)));
    return { units, allocation, commitment: sale.commitment, label: 'commitment_only' };
  }

  draw(sale, round) {
    if (!sale.seed || round !== sale.round) throw problem(404, 'unknown_sale', { detail: 'the round has no draw' });
    const reveals = Date.parse(sale.closes_at) + REVEAL_AFTER_MS;
    return {
      sale_id: sale.sale_id, round, encoding: 1, ...this.drawTerms(sale), currency: sale.currency, closes_at: sale.closes_at,
      reveals_at: new Date(reveals).toISOString(), ...(Date.now() >= reveals ? { seed: sale.seed } : {}),
    };
  }

  /** The current view, with the pace of polling. */
  seen(one) {
    const pace = { queued: 500, pending_payment: 10_000 }[one.view.status];
    return { ...one.view, ...(pace && { poll_after_ms: pace }) };
  }

  award(sale, unit) {
    const { total: units, allocation } = sale;
    const value = awardOf(planOf({ units, allocation }), sale.seed, null, unit);
    if (allocation.kind === 'split') return { kind: 'amount', amount_minor: value, currency: sale.currency };
    return value === 0 ? { kind: 'blank' } : { kind: 'prize', prize: allocation.prizes[value - 1].name };
  }

  /** A published sale that is visible to everyone; any other one is unknown. */
  seenByAll(id) {
    const sale = this.published(id);
    if (sale.gate?.groups_see?.length) throw problem(404, 'unknown_sale');
    return sale;
  }

  published(id) {
    const sale = this.find(id);
    if (sale.state !== 'published') throw problem(404, 'unknown_sale');
    return sale;
  }

  /** Refuses users who may not buy now. */
  enter(sale, user, door = false) {
    if ((this.blocked.get(user)?.until_ms ?? 0) > Date.now()) throw problem(403, 'blocked');
    const state = this.state(sale);
    if (state === 'closed') throw problem(410, 'closed');
    if (state === 'paused') throw problem(503, 'paused', {}, { 'retry-after': '2' });
    const opens = Date.parse(sale.opens_at) - this.classOf(sale, user).leadMs;
    if (state === 'upcoming' && !door && Date.now() < opens) {
      throw problem(409, 'not_open', { opens_at: new Date(opens).toISOString() }, retryAfter(opens));
    }
  }

  reserve(sale, user, key) {
    this.enter(sale, user);
    const before = key && [...this.reservations.values()].find((one) => one.key === key && one.user === user && one.sale === sale.sale_id);
    if (before) return before;
    const live = this.mine(sale, user).filter(({ view }) => LIVE.includes(view.status));
    if (live.length >= sale.per_user_limit) {
      throw problem(409, 'limit_reached', { reservation_ids: live.map(({ view }) => view.reservation_id) });
    }
    this.leave(sale, user);
    const used = new Set(this.mine(sale).filter(({ view }) => LIVE.includes(view.status)).map(({ view }) => view.unit));
    const unit = Array.from({ length: this.out(sale) }, (_, at) => at + 1).find((number) => !used.has(number));
    if (unit === undefined) throw this.soldOut(sale);
    const one = {
      sale: sale.sale_id, user, key, ofQuota: this.classOf(sale, user).hasQuota && (this.quota(sale)?.left ?? 0) > 0,
      view: {
        reservation_id: `${sale.sale_id}.${sale.round}.${randomBytes(16).toString('hex')}`, status: 'queued', unit,
        reserved_at: new Date().toISOString(),
      },
    };
    this.reservations.set(one.view.reservation_id, one);
    setTimeout(() => this.order(one, sale), QUEUE_MS).unref();
    return one;
  }

  order(one, sale) {
    if (one.view.status !== 'queued') return;
    one.ordered_at = new Date().toISOString();
    const price = { price_minor: sale.price_minor, currency: sale.currency };
    if (sale.settlement === 'free') {
      Object.assign(one.view, { status: 'granted', ...price, ...(sale.seed ? { award: this.award(sale, one.view.unit) } : {}) });
    } else {
      const windowMs = sale.payment_window_s * 1000;
      Object.assign(one.view, { status: 'pending_payment', ...price, pay_by: new Date(Date.now() + windowMs).toISOString() });
      setTimeout(() => this.end(one, 'expired'), windowMs + 400).unref();
    }
    this.changed(one.user, one.view);
  }

  end(one, status) {
    if (one.view.status !== 'pending_payment' && one.view.status !== 'queued') return false;
    delete one.view.pay_by;
    one.ordered_at ??= new Date().toISOString();
    Object.assign(one.view, { status, ended_at: new Date().toISOString() });
    this.changed(one.user, one.view);
    return true;
  }

  count(code) {
    this.answers[code] = (this.answers[code] ?? 0) + 1;
  }

  units(sale) {
    const by = (status) => this.mine(sale).filter(({ view }) => view.status === status).length;
    const [held, ordered, paid] = [by('queued'), by('pending_payment') + by('granted'), by('paid')];
    const more = sale.rain ? { to_drop: sale.total - this.out(sale) } : {};
    return { total: sale.total, free: sale.total - held - ordered - paid, ...more, held, ordered, paid };
  }
}
