// The operators' routes of the stand-in.

import { lifeRoutes, note, shown } from './life.js';
import { orderRoutes } from './orders.js';
import { ok, route } from './route.js';
import { problem } from './sales.js';

const UPDATES = {
  pause: (sale) => { sale.paused = true; },
  resume: (sale) => { sale.paused = false; },
  close: (sale) => { sale.closes_at = new Date(Math.min(Date.now(), Date.parse(sale.closes_at))).toISOString(); },
  restock: (sale, { units }) => {
    sale.total += units;
    if (sale.rain) sale.rain = { ...sale.rain, at_once: (sale.rain.at_once ?? 0) + units };
  },
  rain: (sale, { rain }, now, sales) => {
    const since = now - Date.parse(sale.opens_at);
    const over = rain.drops?.find(({ after_s: after }) => after * 1000 <= since);
    if (!sale.rain) throw problem(409, 'not_amendable', { detail: 'rain cannot be changed any more: the round is loaded' });
    if (over) throw problem(409, 'not_amendable', { detail: `the drop with after_s ${over.after_s} is in the past; use at_once for units that should be available now` });
    sale.rain = { ...rain, at_once: sales.out(sale) + (rain.at_once ?? 0), ...(since > 0 ? { from_ms: since } : {}) };
  },
  end_recurrence: (sale) => { delete sale.recurrence; },
  throttle: (sale, { requests_per_s: rate }) => {
    if (rate === null) delete sale.throttle_requests_per_s;
    else sale.throttle_requests_per_s = rate;
  },
};

export function adminRoutes(sales) {
  /** The idempotency keys of changes that were made. */
  const made = new Set();
  const update = ([name, change]) => route('POST', `/v1/admin/sales/:id/${name}`, 'operator', async ({ path: [id], body, headers, user }) => {
    const sale = sales.find(id);
    const key = headers['idempotency-key'];
    if (key && made.has(key)) return ok(shown(sale));
    const asked = await body();
    change(sale, asked, Date.now(), sales);
    made.add(key);
    // Other actions only concern the round; the recurrence belongs to the offer.
    if (name === 'end_recurrence') sale.version += 1;
    else sale.round_version = (sale.round_version ?? 1) + 1;
    const { round: _round, ...parameters } = asked;
    note(sale, name, user, Object.keys(parameters).length ? JSON.stringify(parameters) : '');
    return ok(shown(sale));
  });
  const blocks = () => [...sales.blocked].filter(([, { until_ms }]) => until_ms > Date.now())
    .map(([user, { until_ms, reason, by }]) => ({ user, until: new Date(until_ms).toISOString(), reason, by }));

  const networks = () => [...sales.networks.values()].filter(({ until }) => Date.parse(until) > Date.now());

  return [
    ...lifeRoutes(sales),
    ...Object.entries(UPDATES).map(update),
    route('GET', '/v1/admin/sales/:id/rounds/:round/audit', 'operator', ({ path: [id] }) => {
      const { total, free, held, ordered, paid } = sales.units(sales.find(id));
      return ok({
        clean: true, in_redis: true, total, free, held, ordered: ordered + paid, oversold: 0, lost: 0, duplicated: 0, discrepancies: [],
      });
    }),
    route('GET', '/v1/admin/sales/:id/live', 'operator', ({ path: [id] }) => {
      const sale = sales.find(id);
      return ok({
        server_time: new Date().toISOString(), sale_id: id, round: sale.round, state: sales.state(sale),
        stopped: sales.stopped.all || sales.stopped.sales.has(id), answers: sales.answers,
        units: { ...sales.units(sale), as_of: new Date().toISOString() },
        queues: ['orders', 'expiry', 'quarantine'].map((queue) => ({
          queue, waiting: 0, delayed: 0, in_flight: 0, dead: queue === 'orders' ? 2 : 0, oldest_s: null,
        })),
      });
    }),
    ...[['', true], ['/remove', false]].map(([path, adds]) => route('POST', `/v1/admin/groups/:group/users${path}`, 'operator', async ({ path: [group], body }) => {
      const { users } = await body();
      const list = sales.groups.get(group) ?? new Set();
      sales.groups.set(group, list);
      for (const user of users) (adds ? list.add(user) : list.delete(user));
      return ok({ group, users: users.length });
    })),
    route('GET', '/v1/admin/groups/:group/users', 'operator', ({ path: [group] }) => ok({ group, users: [...sales.groups.get(group) ?? []] })),
    route('POST', '/v1/admin/campaigns', 'operator', async ({ body }) => {
      const { version: seen, ...campaign } = await body();
      const unknown = campaign.sale_ids.filter((id) => !sales.sales.has(id));
      if (unknown.length) throw problem(400, 'invalid_request', { detail: `sale_ids: no such sale: ${unknown.join(', ')}` });
      const before = sales.campaigns.get(campaign.campaign_id);
      const after = { ...campaign, version: (seen ?? 0) + 1 };
      sales.campaigns.set(campaign.campaign_id, after);
      return ok(after, before ? 200 : 201);
    }),
    route('GET', '/v1/admin/campaigns', 'operator', () => ok({ campaigns: [...sales.campaigns.values()] })),
    route('POST', '/v1/admin/redrive/:queue', 'operator', () => ok({ moved: 2, may_be_more: false })),
    ...['stop', 'start'].map((how) => route('POST', `/v1/admin/${how}`, 'operator', async ({ body }) => {
      const { sale_id: id } = await body();
      if (!id) sales.stopped.all = how === 'stop';
      else if (how === 'stop') sales.stopped.sales.add(id);
      else sales.stopped.sales.delete(id);
      return ok({ stopped: sales.stopped.all, stopped_sales: [...sales.stopped.sales] });
    })),
    route('GET', '/v1/admin/blocked', 'operator', () => ok({ blocked: blocks(), blocked_networks: networks() })),
    route('POST', '/v1/admin/blocked', 'operator', async ({ body, user: operator }) => {
      const { user, until, note: why, ...where } = await body();
      const until_ms = Date.parse(until);
      if (user) {
        sales.blocked.set(user, { until_ms, reason: 'asked', by: 'operators' });
        return ok(blocks().find((one) => one.user === user));
      }
      const [key] = Object.values(where);
      sales.networks.set(key, { ...where, until, reason: 'asked', by: 'operators', operator, at: new Date().toISOString(), ...(why ? { note: why } : {}) });
      return ok(sales.networks.get(key));
    }),
    route('POST', '/v1/admin/allow', 'operator', async ({ body }) => {
      const { user, address, network } = await body();
      sales.blocked.delete(user);
      sales.networks.delete(address ?? network);
      return ok({ blocked: blocks(), blocked_networks: networks() });
    }),
    ...orderRoutes(sales),
  ];
}
