// The operators' routes.

import { ask as asked, get } from '../http.js';
import { session } from '../session.js';
import { Wait } from '../timing.js';

/** Calls `refused` when the signed-in user is not an operator. */
export const access = new EventTarget();

async function ask(...request) {
  const user = session.current?.user;
  try {
    return await asked(...request);
  } catch (error) {
    // An answer for the previous user says nothing about this one.
    if (error.code === 'forbidden' && user && user === session.current?.user) access.dispatchEvent(new Event('refused'));
    throw error;
  }
}

const sale = (id) => `/v1/admin/sales/${encodeURIComponent(id)}`;
const post = (path, body = {}, key = undefined) => ask('POST', path, { body, key });

export const api = {
  sales: (signal) => ask('GET', '/v1/admin/sales', { signal }),
  /** A page of the sales in one state. */
  salesIn: (state, cursor, signal) => ask('GET', `/v1/admin/sales?${new URLSearchParams({ state, ...(cursor ? { cursor } : {}) })}`, { signal }),
  sale: (id, signal) => ask('GET', sale(id), { signal }),
  live: (id, signal) => ask('GET', `${sale(id)}/live`, { signal }),
  draw: (id, round, signal) => ask('GET', `/v1/sales/${encodeURIComponent(id)}/rounds/${round}/draw`, { signal }),
  line: (id, signal) => get(`/v1/sales/${encodeURIComponent(id)}/line`, { signal }),
  audit: (id, round, signal) => ask('GET', `${sale(id)}/rounds/${round}/audit`, { signal }),
  /** A page of a round's report. */
  report: (id, round, cursor, signal) => ask('GET', `${sale(id)}/rounds/${round}/report${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''}`, { signal }),
  create: (terms) => post('/v1/admin/sales', terms),
  edit: (id, changes, key) => post(`${sale(id)}/edit`, changes, key),
  withdraw: (id) => post(`${sale(id)}/withdraw`),
  remove: (id) => ask('DELETE', sale(id)),
  killSwitches: (signal) => ask('GET', '/v1/admin/kill_switches', { signal }),
  publish: (id) => post(`${sale(id)}/publish`),
  /** Applies to the round that the operator sees. `key` identifies the request, so that a repetition has no further effect. */
  update: ({ sale_id: id, round }, how, key, body = {}) => post(`${sale(id)}/${how}`, { round, ...body }, key),
  beacon: ({ sale_id: id, round }, signature) => post(`${sale(id)}/rounds/${round}/beacon`, { signature }),
  redrive: (queue) => post(`/v1/admin/redrive/${queue}`),
  /** Flips the kill switch of everything, or of one sale. */
  flip: (how, which) => post(`/v1/admin/${how}`, which),
  blocked: (signal) => ask('GET', '/v1/admin/blocked', { signal }),
  /** `subject` is `{user}`, `{address}` or `{network}`. */
  block: (subject, until) => post('/v1/admin/blocked', { ...subject, until }),
  allow: (subject) => post('/v1/admin/allow', subject),
  /** `how` is `add` or `remove`. */
  group: (group, how, users) => post(`/v1/admin/groups/${group}/users${how === 'remove' ? '/remove' : ''}`, { users }),
  /** A page of orders; `filter` is a `URLSearchParams` that includes the cursor. */
  orders: (filter, signal) => ask('GET', `/v1/admin/orders?${filter}`, { signal }),
  order: (id, signal) => ask('GET', `/v1/admin/orders/${encodeURIComponent(id)}`, { signal }),
  /** The first page of an export, as `{text, headers}`. */
  exported: (id, round, signal) => ask('GET', `${sale(id)}/rounds/${round}/orders?format=csv`, { signal, asFile: true }),
  /** A further page, by the path that the previous page names. */
  exportedNext: (path, signal) => ask('GET', path, { signal, asFile: true }),
  refunds: (cursor, signal) => ask('GET', `/v1/admin/refunds${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''}`, { signal }),
  refunded: (payment) => post('/v1/admin/refunds/refunded', { payment_id: payment }),
  campaigns: (signal) => ask('GET', '/v1/admin/campaigns', { signal }),
  campaign: (campaign) => post('/v1/admin/campaigns', campaign),
};

/** Maximum attempts of one request that the system is too busy for. */
const TRIES = 8;
const PASSING = ['overloaded', 'network', 'rate_limited'];

/** Runs an idempotent action, and retries it while the system is busy; `signal` also ends the waiting. */
export async function again(run, signal = undefined) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await run();
    } catch (error) {
      if (tried >= TRIES || !PASSING.includes(error.code)) throw error;
      await new Wait(signal).for(1000 * Math.max(1, error.retryAfterS ?? 0));
      signal?.throwIfAborted();
    }
  }
}
