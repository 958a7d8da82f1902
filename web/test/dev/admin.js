// The operators' routes of the stand-in.

import { ok, route } from './routes.js';
import { problem } from './sales.js';

const STEERED = {
  pause: (sale) => { sale.paused = true; },
  resume: (sale) => { sale.paused = false; },
  close: (sale) => { sale.closes_at = new Date(Math.min(Date.now(), Date.parse(sale.closes_at))).toISOString(); },
  restock: (sale, { units }) => { sale.total += units; },
};

export function adminRoutes(sales) {
  const steer = ([name, change]) => route('POST', `/v1/admin/sales/:id/${name}`, 'operator', async ({ path: [id], body, headers }) => {
    const sale = sales.find(id);
    const over = Date.now() >= Date.parse(sale.closes_at);
    if (sale.state === 'draft' || (over && name !== 'close')) throw problem(409, 'not_amendable', { detail: 'it is a draft, or over' });
    const key = headers['idempotency-key'];
    if (!sale.keys.has(key)) change(sale, await body());
    if (key) sale.keys.add(key);
    sale.version += 1;
    return ok(shown(sale));
  });
  const shown = ({ keys, ...sale }) => sale;
  const denials = () => [...sales.denied].filter(([, { until_ms }]) => until_ms > Date.now())
    .map(([user, { until_ms, reason, by }]) => ({ user, until: new Date(until_ms).toISOString(), reason, by }));

  return [
    route('POST', '/v1/admin/sales', 'operator', async ({ body }) => {
      const terms = await body();
      if (sales.sales.has(terms.sale_id)) throw problem(409, 'sale_exists');
      const sale = { ...terms, state: 'draft', round: 1, version: 1, paused: false, keys: new Set() };
      sales.sales.set(terms.sale_id, sale);
      return ok(shown(sale), 201);
    }),
    route('GET', '/v1/admin/sales', 'operator', () => ok({
      sales: [...sales.sales.values()].filter((sale) => sale.state === 'published' && sales.state(sale) !== 'closed').map(shown),
    })),
    route('GET', '/v1/admin/sales/:id', 'operator', ({ path: [id] }) => ok(shown(sales.find(id)))),
    route('POST', '/v1/admin/sales/:id/publish', 'operator', ({ path: [id] }) => {
      const sale = sales.find(id);
      sale.state = 'published';
      return ok(shown(sale));
    }),
    ...Object.entries(STEERED).map(steer),
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
    route('POST', '/v1/admin/campaigns', 'operator', async ({ body }) => {
      const campaign = await body();
      sales.campaigns.set(campaign.campaign_id, { ...campaign, version: (campaign.version ?? 0) + 1 });
      return ok(sales.campaigns.get(campaign.campaign_id), 201);
    }),
    route('GET', '/v1/admin/campaigns', 'operator', () => ok({ campaigns: [...sales.campaigns.values()] })),
    route('POST', '/v1/admin/redrive/:queue', 'operator', () => ok({ moved: 2 })),
    ...['stop', 'start'].map((how) => route('POST', `/v1/admin/${how}`, 'operator', async ({ body }) => {
      const { sale_id: id } = await body();
      if (!id) sales.stopped.all = how === 'stop';
      else if (how === 'stop') sales.stopped.sales.add(id);
      else sales.stopped.sales.delete(id);
      return ok({ stopped: sales.stopped.all, stopped_sales: [...sales.stopped.sales] });
    })),
    route('GET', '/v1/admin/denied', 'operator', () => ok({ denied: denials() })),
    route('POST', '/v1/admin/denied', 'operator', async ({ body }) => {
      const { user, until } = await body();
      sales.denied.set(user, { until_ms: Date.parse(until), reason: 'asked', by: 'operators' });
      return ok(denials().find((one) => one.user === user));
    }),
    route('DELETE', '/v1/admin/denied/:user', 'operator', ({ path: [user] }) => {
      sales.denied.delete(user);
      return ok({ denied: denials() });
    }),
  ];
}
