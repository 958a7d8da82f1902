// Orders and refunds, as the stand-in's operators see them.

import { ok, route } from './route.js';
import { problem } from './sales.js';

/** Small pages, so that tests are quick; the real system has 50 and 1,000. */
const PAGE = 5;
const EXPORT_PAGE = 3;
export const STATES = ['pending_payment', 'granted', 'paid', 'expired', 'cancelled', 'failed'];
const COLUMNS = [
  'reservation_id', 'sale_id', 'round', 'user', 'unit', 'state', 'price_minor', 'currency', 'award', 'award_minor', 'prize',
  'reserved_at', 'ordered_at', 'pay_by', 'ended_at', 'reason', 'payment_id', 'refund',
];

/** Records a payment of a reservation. A repeated payment has no further effect. */
export function pay(sales, one, { price_minor, currency }) {
  one.payments ??= [];
  const payment_id = `stand-in-${one.view.reservation_id.split('.')[2]}`;
  const before = one.payments.find((payment) => payment.payment_id === payment_id);
  if (before) return before.outcome === 'applied' ? 'applied' : 'refund_due';
  const outcome = one.view.status === 'pending_payment' && sales.end(one, 'paid') ? 'applied' : 'refund_due';
  if (outcome === 'refund_due') one.view.refund_due = true;
  one.payments.push({ payment_id, outcome, price_minor, currency, noted_at: new Date().toISOString() });
  return outcome;
}

function document(one) {
  const { status: state, refund_due: due, expedited, poll_after_ms: pace, ...view } = one.view;
  const [sale_id, round] = view.reservation_id.split('.');
  const payments = one.payments ?? [];
  const paid = payments.find(({ outcome }) => outcome === 'applied');
  const refund = payments.some(({ outcome }) => outcome === 'refund_due') ? 'due' : payments.some(({ outcome }) => outcome === 'refunded') ? 'refunded' : null;
  return {
    sale_id, round: Number(round), user: one.user, state, ordered_at: one.ordered_at, ...view,
    ...(paid ? { payment_id: paid.payment_id } : {}), ...(refund ? { refund } : {}),
  };
}

function history(order, payments) {
  const granted = order.state === 'granted';
  const ends = order.ended_at ? [{ at: order.ended_at, event: order.state }] : [];
  return [
    { at: order.reserved_at, event: 'reserved' }, { at: order.ordered_at, event: granted ? 'granted' : 'ordered' }, ...ends,
    ...payments.filter(({ outcome }) => outcome !== 'applied').flatMap(({ payment_id, noted_at, refunded_at, refunded_by }) => [
      { at: noted_at, event: 'refund_due', payment_id }, ...(refunded_at ? [{ at: refunded_at, event: 'refunded', payment_id, by: refunded_by }] : []),
    ]),
  ].sort((one, other) => one.at.localeCompare(other.at));
}

function refundOf(one, { outcome, noted_at, ...payment }) {
  return { ...payment, reservation_id: one.view.reservation_id, user: one.user, order_state: one.view.status, due_at: noted_at };
}

function csv(orders, isFirst) {
  const flat = ({ award, ...order }) => ({ ...order, award: award?.kind, award_minor: award?.amount_minor, prize: award?.prize });
  return [...(isFirst ? [COLUMNS] : []), ...orders.map(flat).map((order) => COLUMNS.map((name) => order[name]))]
    .map((row) => `${row.join(',')}\r\n`).join('').replace(/^/, isFirst ? '\ufeff' : '');
}

export function orderRoutes(sales) {
  const written = () => [...sales.reservations.values()].filter((one) => one.view.status !== 'queued' && one.ordered_at);

  /** The filter of a request; refuses what the page leaves to the system. */
  const filterOf = (url) => {
    const asked = Object.fromEntries(url.searchParams);
    if (asked.state && !STATES.includes(asked.state)) throw problem(400, 'invalid_request', { detail: `state: one of ${STATES.join(', ')}` });
    const sale = asked.sale && !asked.user ? sales.find(asked.sale) : null;
    if (asked.round && sale && Number(asked.round) > sale.round) throw problem(404, 'unknown_sale');
    return { ...asked, round: asked.round ?? sale?.round };
  };
  const takes = ({ sale, round, user, state, from, to }) => (order) => (!sale || order.sale_id === sale) &&
    (!round || order.round === Number(round)) && (!user || order.user === user) && (!state || order.state === state) &&
    (!from || Date.parse(order.ordered_at) >= Date.parse(from)) && (!to || Date.parse(order.ordered_at) < Date.parse(to));

  return [
    route('GET', '/v1/admin/orders', 'operator', ({ url }) => {
      const { cursor = 0, ...filter } = filterOf(url);
      const all = written().map(document).filter(takes(filter)).sort((one, other) => other.ordered_at.localeCompare(one.ordered_at));
      const next = Number(cursor) + PAGE;
      return ok({ orders: all.slice(cursor, next), ...(next < all.length ? { next_cursor: String(next) } : {}) });
    }),
    route('GET', '/v1/admin/orders/:id', 'operator', ({ path: [id] }) => {
      const one = sales.reservations.get(id);
      if (!one?.ordered_at) throw problem(404, 'unknown_reservation');
      const order = document(one);
      const payments = one.payments ?? [];
      return ok({ ...order, payments, history: history(order, payments) });
    }),
    route('GET', '/v1/admin/sales/:id/rounds/:round/orders', 'operator', ({ path: [id, round], url }) => {
      if (Number(round) !== sales.find(id).round) throw problem(404, 'unknown_sale');
      const all = written().filter((one) => one.sale === id).map(document);
      const from = Number(url.searchParams.get('cursor') ?? 0);
      const orders = all.slice(from, from + EXPORT_PAGE);
      const next = from + EXPORT_PAGE;
      const path = `/v1/admin/sales/${id}/rounds/${round}/orders?format=csv&cursor=${next}`;
      return ok(csv(orders, from === 0), 200, {
        'content-type': `text/csv; charset=utf-8; header=${from === 0 ? 'present' : 'absent'}`, 'export-rows': String(orders.length),
        ...(from === 0 ? { 'export-rows-about': String(all.length) } : {}),
        ...(next < all.length ? { link: `<${path}>; rel="next"` } : {}),
      });
    }),
    route('GET', '/v1/admin/refunds', 'operator', ({ url }) => {
      const due = written().flatMap((one) => (one.payments ?? []).filter(({ outcome }) => outcome === 'refund_due').map((payment) => refundOf(one, payment)))
        .sort((one, other) => one.due_at.localeCompare(other.due_at));
      const cursor = url.searchParams.get('cursor');
      const after = cursor ? Buffer.from(cursor, 'base64url').toString() : '';
      const left = due.filter(({ due_at, payment_id }) => `${due_at} ${payment_id}` > after);
      const refunds = left.slice(0, PAGE);
      const last = refunds.at(-1);
      return ok({ refunds, ...(left.length > PAGE ? { next_cursor: Buffer.from(`${last.due_at} ${last.payment_id}`).toString('base64url') } : {}) });
    }),
    route('POST', '/v1/admin/refunds/refunded', 'operator', async ({ body, user }) => {
      const { payment_id: id } = await body();
      const one = written().find(({ payments = [] }) => payments.some((payment) => payment.payment_id === id && payment.outcome !== 'applied'));
      if (!one) throw problem(404, 'unknown_refund');
      const payment = one.payments.find(({ payment_id }) => payment_id === id);
      const changed = payment.outcome === 'refund_due';
      if (changed) {
        Object.assign(payment, { outcome: 'refunded', refunded_at: new Date().toISOString(), refunded_by: user });
        delete one.view.refund_due;
      }
      return ok({ ...refundOf(one, payment), changed });
    }),
  ];
}
