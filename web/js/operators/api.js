// The operators' routes.

import { ask } from '../http.js';

const sale = (id) => `/v1/admin/sales/${encodeURIComponent(id)}`;
const post = (path, body = {}, key = undefined) => ask('POST', path, { body, key });

export const api = {
  sales: (signal) => ask('GET', '/v1/admin/sales', { signal }),
  sale: (id, signal) => ask('GET', sale(id), { signal }),
  live: (id, signal) => ask('GET', `${sale(id)}/live`, { signal }),
  draw: (id, round, signal) => ask('GET', `/v1/sales/${encodeURIComponent(id)}/rounds/${round}/draw`, { signal }),
  audit: (id, round, signal) => ask('GET', `${sale(id)}/rounds/${round}/audit`, { signal }),
  create: (terms) => post('/v1/admin/sales', terms),
  publish: (id) => post(`${sale(id)}/publish`),
  /** Of the round that the operator sees. `key` names the wish, so that sending it twice is wishing it once. */
  steer: ({ sale_id: id, round }, how, key, body = {}) => post(`${sale(id)}/${how}`, { round, ...body }, key),
  beacon: ({ sale_id: id, round }, signature) => post(`${sale(id)}/rounds/${round}/beacon`, { signature }),
  redrive: (queue) => post(`/v1/admin/redrive/${queue}`),
  switch: (how, which) => post(`/v1/admin/${how}`, which),
  denied: (signal) => ask('GET', '/v1/admin/denied', { signal }),
  deny: (user, until) => post('/v1/admin/denied', { user, until }),
  allow: (user) => post('/v1/admin/allow', { user }),
  /** `how` is `add` or `remove`. */
  group: (group, how, users) => post(`/v1/admin/groups/${group}/users${how === 'remove' ? '/remove' : ''}`, { users }),
  campaigns: () => ask('GET', '/v1/admin/campaigns'),
  campaign: (campaign) => post('/v1/admin/campaigns', campaign),
};
