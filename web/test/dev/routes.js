// The stand-in's routes.

import { randomBytes } from 'node:crypto';
import { leadingZeros, message, sha256 } from '../../../clients/typescript/src/sha256.js';
import { adminRoutes } from './admin.js';
import { issuerRoutes } from './issuer.js';
import { pay } from './orders.js';
import { ok, route } from './route.js';
import { problem } from './sales.js';

/** Little work, so that tests are quick; the real system asks for 20 bits. */
const WORK_BITS = 12;
const PASS_LIFE_MS = 300_000;
const PAGE = 5;

/** A sum to read, in place of the real picture. */
const picture = (sum) => `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="240" height="72"><text x="20" y="50" font-size="40">${sum}</text></svg>`)}`;

const kept = { 'cache-control': 'public, max-age=1, s-maxage=1' };
const catalog = (body) => ok({ server_time: new Date().toISOString(), ...body }, 200, kept);

export function routes(sales, users, place) {
  const challenges = new Map();
  const passes = new Map();

  const grant = (sale, user) => {
    const token = randomBytes(40).toString('base64url');
    const until = Date.now() + PASS_LIFE_MS;
    passes.set(token, { sale: sale.sale_id, user, until });
    return { token, expires_at: new Date(until).toISOString(), reserve_path: `/v1/sales/${sale.sale_id}/reservations/${token}` };
  };
  const own = (id, user) => {
    const one = sales.reservations.get(id);
    if (!one || one.user !== user) throw problem(404, 'unknown_reservation');
    return one;
  };
  const campaigns = () => [...sales.campaigns.values()].map(({ campaign_id, title }) => ({ campaign_id, title }));
  const config = () => {
    const { port, login } = place();
    const origin = `http://127.0.0.1:${port}`;
    return {
      login: login === 'oidc' ? { kind: 'oidc', issuer: `${origin}/issuer`, client_id: 'shop' } : { kind: 'stand-in', url: '/stand-in/login' },
      pay: { kind: 'stand-in', url: '/stand-in/pay' },
      push_url: `ws://127.0.0.1:${port}/push`,
      contact: 'mailto:help@shop.example',
    };
  };

  return [
    route('GET', '/config.json', 'nobody', () => ok(config())),
    route('POST', '/stand-in/login', 'nobody', async ({ body }) => {
      const { user, operator } = await body();
      return ok(users.issue(user, operator === true));
    }),
    route('POST', '/stand-in/pay', 'nobody', async ({ body }) => {
      const { reservation_id: id, ...price } = await body();
      const one = sales.reservations.get(id);
      if (!one) throw problem(404, 'unknown_reservation');
      return ok({ outcome: pay(sales, one, price) });
    }),

    ...issuerRoutes(users, config, place),

    route('GET', '/v1/sales', 'nobody', () => catalog({ sales: sales.front().map((sale) => sales.card(sale)), campaigns: campaigns() })),
    route('GET', '/v1/campaigns/:id', 'nobody', ({ path: [id] }) => {
      const campaign = sales.campaigns.get(id);
      if (!campaign) throw problem(404, 'unknown_campaign');
      return catalog({ campaign_id: id, title: campaign.title, sales: campaign.sale_ids.map((sale) => sales.card(sales.find(sale))) });
    }),
    route('GET', '/v1/members/sales/:id', 'user', ({ path: [id], user }) => {
      const sale = sales.published(id);
      const groups = sale.gate?.groups_see ?? [];
      if (groups.length && !groups.some((group) => sales.groups.get(group)?.has(user))) throw problem(404, 'unknown_sale');
      return ok({ server_time: new Date().toISOString(), ...sales.card(sale), ...sales.goods(sale) });
    }),
    route('GET', '/v1/sales/:id', 'nobody', ({ path: [id] }) => catalog({ ...sales.card(sales.seenByAll(id)), ...sales.goods(sales.find(id)) })),
    route('GET', '/v1/sales/:id/rounds/:round/draw', 'nobody', ({ path: [id, round] }) => (
      ok(sales.draw(sales.published(id), Number(round)), 200, kept))),

    route('POST', '/v1/sales/:id/tickets', 'user', ({ path: [id], user }) => ok(sales.ticket(sales.published(id), user), 201)),
    route('GET', '/v1/sales/:id/line', 'nobody', ({ path: [id] }) => ok(sales.line(sales.seenByAll(id)), 200, kept)),

    route('POST', '/v1/sales/:id/challenges', 'user', async ({ path: [id], user, body, headers }) => {
      const sale = sales.published(id);
      sales.enter(sale, user, true);
      sales.inTurn(sale, user, headers);
      const policy = sale.gate?.challenge ?? 'any';
      const kinds = policy === 'any' ? ['picture', 'work'] : [policy];
      const { kind: wish } = await body();
      const kind = policy === 'none' ? 'none' : wish ?? kinds[0];
      if (!kinds.includes(kind)) throw problem(400, 'invalid_request');
      const challenge_id = randomBytes(16).toString('hex');
      const [left, right] = [11 + Math.floor(Math.random() * 60), 2 + Math.floor(Math.random() * 8)];
      challenges.set(challenge_id, { user, sale: id, answer: kind === 'picture' ? String(left + right) : null, kind });
      const more = { picture: { picture: picture(`${left}+${right}=?`) }, work: { work: { bits: WORK_BITS } }, none: {} }[kind];
      return ok({ challenge_id, kind, kinds, ...more, expires_at: new Date(Date.now() + 120_000).toISOString() }, 201);
    }),
    route('POST', '/v1/sales/:id/tokens', 'user', async ({ path: [id], user, body, headers }) => {
      const sale = sales.published(id);
      const { challenge_id, answer } = await body();
      const challenge = challenges.get(challenge_id);
      sales.enter(sale, user);
      sales.inTurn(sale, user, headers);
      challenges.delete(challenge_id);
      if (challenge?.user !== user || challenge.sale !== id) throw problem(409, 'challenge_over');
      const right = challenge.kind === 'none' ? sale.gate?.challenge === 'none' : challenge.answer === null
        ? leadingZeros(sha256(message(`${challenge_id}:`), answer)) >= WORK_BITS : challenge.answer === answer;
      if (!right) throw problem(403, 'wrong_answer');
      if (sale.rain && sales.out(sale) <= sales.taken(sale)) throw sales.soldOut(sale);
      if (sales.mine(sale, user).length === 0) sales.leave(sale, user);
      return ok(grant(sale, user), 201);
    }),
    route('POST', '/v1/sales/:id/reservations/:token', 'user', async ({ path: [id, token], user, headers }) => {
      const sale = sales.published(id);
      const pass = passes.get(token);
      if (pass?.user !== user || pass.sale !== id || pass.until < Date.now()) throw problem(403, 'bad_token');
      const { view } = sales.reserve(sale, user, headers['idempotency-key']);
      const path = `/v1/reservations/${view.reservation_id}`;
      return ok({ reservation_id: view.reservation_id, status: 'queued' }, 202, { location: path });
    }),

    route('GET', '/v1/sales/:id/reservation', 'user', ({ path: [id], user }) => {
      const sale = sales.published(id);
      return ok({ sale_id: id, round: sale.round, reservations: sales.mine(sale, user).map((one) => sales.seen(one)).reverse() });
    }),
    route('GET', '/v1/reservations/:id', 'user', ({ path: [id], user, url }) => {
      const one = own(id, user);
      if (url.searchParams.get('expedite') === 'true') sales.order(one, sales.find(one.sale));
      return ok(sales.seen(one));
    }),
    route('DELETE', '/v1/reservations/:id', 'user', ({ path: [id], user }) => {
      const one = own(id, user);
      if (!sales.end(one, 'cancelled') && one.view.status !== 'cancelled') {
        throw problem(409, 'not_cancellable', { reservation_status: one.view.status });
      }
      return ok(one.view);
    }),
    route('GET', '/v1/orders', 'user', ({ user, url }) => {
      const all = [...sales.reservations.values()].filter((one) => one.user === user).map((one) => sales.seen(one)).reverse();
      const from = Number(url.searchParams.get('cursor')?.split('.')[0] ?? 0);
      const orders = all.slice(from, from + PAGE);
      const next = from + PAGE;
      return ok({ orders, ...(next < all.length ? { next_cursor: `${next}.${all[next].reservation_id}` } : {}) });
    }),
    ...adminRoutes(sales),
  ];
}
