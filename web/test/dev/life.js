// The life cycle of sales in the stand-in: lists by state, drafts, edits, withdrawal, and reports.

import { STATES } from './orders.js';
import { ok, route } from './route.js';
import { problem } from './sales.js';

/** Small pages, so that tests are quick; the real system has 50 sales, and 1,000 orders. */
const PAGE = 20;
const REPORT_PAGE = 4;
const DOOR = { violations: 10, violation_window_s: 600, blocked_for_s: 3_600, unpaid_limit: 3 };

/** Refuses the invalid terms that the page's form lets through: all errors at once, each with its field. */
function check({ opens_at: opens, closes_at: closes, allocation }) {
  const errors = [];
  const wrong = (field, detail) => errors.push({ field, detail });
  const lasts = Date.parse(closes) - Date.parse(opens);
  if (!(lasts >= 1 && lasts <= 31 * 86_400_000)) wrong('closes_at', 'closes_at must be after opens_at and at most 31 days later');
  else if (Date.parse(closes) <= Date.now()) wrong('closes_at', 'closes_at is over');
  if (allocation?.draw === 'at_end') wrong('allocation.draw', 'allocation.draw: the stand-in only draws at once');
  if (errors.length) throw problem(400, 'invalid_request', { detail: errors[0].detail, errors });
}

export function note(sale, action, by, parameters = '') {
  sale.log ??= [];
  sale.log.push({ at: new Date().toISOString(), by, action, ...(parameters ? { parameters } : {}) });
}

/** A sale as operators see it. */
export function shown({ seed, commitment, log, round_version: version, ...sale }) {
  return { door: DOOR, allocation: { kind: 'units' }, settlement: 'paid', ...sale, ...(sale.state === 'draft' ? {} : { round_version: version ?? 1 }) };
}

function listed(sale, now) {
  if (sale.state !== 'published') return sale.state;
  if (now >= Date.parse(sale.closes_at)) return 'ended';
  return now < Date.parse(sale.opens_at) ? 'published' : 'open';
}

export function lifeRoutes(sales) {
  const ofSale = (method, path, answer) => route(method, `/v1/admin/sales/:id${path}`, 'operator', (asked) => answer(sales.find(asked.path[0]), asked));
  const create = (terms, user) => {
    if (sales.sales.has(terms.sale_id)) throw problem(409, 'sale_exists');
    check(terms);
    const sale = { allocation: { kind: 'units' }, settlement: 'paid', ...terms, ...(terms.line ? { line: { opens_early_s: 3_600, ...terms.line } } : {}), state: 'draft', round: 1, version: 1, round_version: 1, paused: false };
    sales.sales.set(terms.sale_id, sale);
    note(sale, 'create', user);
    return ok(shown(sale), 201);
  };
  return [
    route('GET', '/v1/admin/sales', 'operator', ({ url }) => {
      const [state, now] = [url.searchParams.get('state'), Date.now()];
      const all = [...sales.sales.values()];
      if (!state) return ok({ sales: all.filter((sale) => sale.state === 'published' && sales.state(sale) !== 'closed').map(shown) });
      const found = all.filter((sale) => listed(sale, now) === state).sort((one, other) => one.closes_at.localeCompare(other.closes_at));
      if (state === 'ended') found.reverse();
      const from = Number(url.searchParams.get('cursor') ?? 0);
      return ok({ sales: found.slice(from, from + PAGE).map(shown), ...(from + PAGE < found.length ? { next_cursor: String(from + PAGE) } : {}) });
    }),
    route('POST', '/v1/admin/sales', 'operator', async ({ body, user }) => create(await body(), user)),
    ofSale('GET', '', (sale) => ok({ ...shown(sale), log: sale.log ?? [] })),
    ofSale('DELETE', '', ({ sale_id: id }) => {
      sales.sales.delete(id);
      return ok(undefined, 204);
    }),
    ofSale('POST', '/publish', (sale, { user }) => {
      if (sale.state === 'draft') note(sale, 'publish', user);
      sale.state = 'published';
      sales.commit(sale);
      return ok(shown(sale));
    }),
    ofSale('POST', '/withdraw', (sale, { user }) => {
      sale.state = 'withdrawn';
      note(sale, 'withdraw', user);
      return ok(shown(sale));
    }),
    ofSale('POST', '/edit', async (sale, { body, user }) => {
      const { version, round, round_version: roundVersion, ...changes } = await body();
      if (round === undefined && version !== sale.version) throw problem(409, 'sale_changed', { version: sale.version });
      if (round !== undefined && round !== sale.round) throw problem(409, 'round_changed', { round: sale.round });
      if (round !== undefined && roundVersion !== (sale.round_version ?? 1)) throw problem(409, 'sale_changed', { version: sale.round_version ?? 1 });
      // Omitted fields of a line stay unchanged.
      if (changes.line) changes.line = { ...sale.line, ...changes.line };
      check({ ...sale, ...changes });
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) delete sale[name];
        else sale[name] = value;
      }
      if (round === undefined) sale.version += 1;
      else sale.round_version = (sale.round_version ?? 1) + 1;
      note(sale, 'edit', user, `version ${version ?? roundVersion}: ${JSON.stringify(changes)}`.slice(0, 300));
      return ok(shown(sale));
    }),
    ofSale('GET', '/rounds/:round/report', (sale, { path: [id, round], url }) => {
      if (Number(round) !== sale.round) throw problem(404, 'unknown_sale');
      const all = sales.mine(sale).filter((one) => one.ordered_at);
      const [until = new Date().toISOString(), start = '0'] = url.searchParams.get('cursor')?.split('|') ?? [];
      const from = Number(start);
      const page = all.slice(from, from + REPORT_PAGE);
      const orders = Object.fromEntries(STATES.map((state) => [state, page.filter(({ view }) => view.status === state).length]));
      const refunds = {};
      for (const { outcome, price_minor: minor, currency } of page.flatMap(({ payments = [] }) => payments)) {
        const name = { refund_due: 'due', refunded: 'made' }[outcome];
        if (!name) continue;
        refunds[currency] ??= { due: 0, due_minor: 0, made: 0, made_minor: 0 };
        refunds[currency][name] += 1;
        refunds[currency][`${name}_minor`] += minor;
      }
      const kept = page.filter(({ view }) => ['pending_payment', 'granted', 'paid'].includes(view.status)).map(({ view }) => view.reserved_at).sort();
      const { title, opens_at, closes_at, total, currency, settlement = 'paid' } = sale;
      return ok({
        sale_id: id, round: sale.round, title, opens_at, closes_at, total, currency, settlement, as_of: until, orders,
        revenue_minor: orders.paid * sale.price_minor, refunds, ...(kept.length ? { last_kept_at: kept.at(-1) } : {}),
        ...(from + REPORT_PAGE < all.length ? { next_cursor: `${until}|${from + REPORT_PAGE}` } : {}),
      });
    }),
    route('GET', '/v1/admin/kill_switches', 'operator', () => ok({ stopped: sales.stopped.all, stopped_sales: [...sales.stopped.sales] })),
  ];
}
