import { expect } from 'vitest';
import { json, problem } from './answers.js';
import { PHONE } from './browser.js';
import { announced, arrive, atSale, heading, listen, onBoth, onStandIn, passing, requests, selling, shop, shopWithIssuer, visit, work } from './visits.js';

const MINUTE_MS = 60_000;
const queued = (id) => json(200, { reservation_id: id, status: 'queued', unit: 1, reserved_at: new Date().toISOString() });

onStandIn.test.each([
  ['overloaded: the page retries by itself', problem(503, 'overloaded', {}, { 'retry-after': '1' }), 2, (page) => heading(page, 'Very many people are here').waitFor()],
  ['a pass that has expired: one more question', problem(403, 'bad_token'), 1, async (page) => {
    await page.getByText('That took a little long').waitFor();
    await work(page);
  }],
])('%s, and the same request', async (_, refusal, refusals, then) => {
  const { page, enter } = await selling();
  const keys = [];
  await page.route(/\/v1\/sales\/[\w-]+\/reservations\//, (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    return keys.length <= refusals ? route.fulfill(refusal) : route.fallback();
  });
  await enter();
  await page.getByRole('button', { name: 'Buy now' }).click();
  await work(page);
  await then(page);
  await heading(page, 'Reserved for you').waitFor();
  expect(keys.length).toBe(refusals + 1);
  expect(new Set(keys).size).toBe(1);
});

onStandIn.test('the network fails, and comes back', async () => {
  const { page, context, shift } = await atSale({}, { user: shop.user(), ...PHONE });
  const buy = page.getByRole('button', { name: 'Buy now' });
  await buy.waitFor();
  await context.setOffline(true);
  await page.getByText('You seem to be offline').waitFor();
  let failed = 0;
  page.on('requestfailed', (request) => { failed += request.url().endsWith('/challenges') ? 1 : 0; });
  await buy.click();
  await heading(page, 'No connection').waitFor();
  const before = await shift();
  // The third retry comes later than a shift could still be an answer to the click.
  await expect.poll(() => failed).toBeGreaterThan(3);
  await page.getByText('We try again in').waitFor();
  expect(await shift()).toBe(before);
  await context.setOffline(false);
  await page.getByLabel('Your answer').waitFor();
});

onBoth.test('when a pause ends, the button comes back by itself', async () => {
  const { page, sale } = await atSale();
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
  await shop.update(sale, 'pause');
  await heading(page, 'The sale is paused').waitFor();
  await shop.update(sale, 'resume');
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
});

onStandIn.test('trouble before a failover lost a reservation is over, and the page asks at the usual intervals', async () => {
  const { id, user } = await shop.buy(await shop.sell());
  const { page, go } = await visit({ user });
  // A change of the connection would cause a request of its own.
  await page.routeWebSocket(/\/push/, (socket) => socket.close({ code: 1011 }));
  const trouble = page.getByText('Very many people are here');
  const unknownAt = [];
  let known = false;
  let looks = 0;
  await page.route(/\/v1\/reservations\//, async (route) => {
    looks += 1;
    if (looks === 1) return route.fulfill(queued(id));
    if (looks === 2) return route.fulfill(problem(503, 'overloaded'));
    if (known) return route.fallback();
    if (unknownAt.length === 0) await trouble.waitFor();
    unknownAt.push(Date.now());
    return route.fulfill(problem(404, 'unknown_reservation'));
  });
  await go(`reservations/${id}`);
  await expect.poll(() => unknownAt.length).toBeGreaterThan(0);
  await trouble.waitFor({ state: 'hidden' });
  expect(await heading(page, 'You are in').count()).toBe(1);
  await expect.poll(() => unknownAt.length).toBeGreaterThanOrEqual(2);
  known = true;
  // After one failure, the back-off would have been a second.
  expect(unknownAt[1] - unknownAt[0]).toBeGreaterThan(2_500);
  await heading(page, 'Reserved for you').waitFor();
});

onStandIn.test('a reservation may be unknown for a minute each time that a failover loses it', async () => {
  const { id, user } = await shop.buy(await shop.sell());
  const { page, go } = await visit({ user });
  await page.routeWebSocket(/\/push/, (socket) => socket.close({ code: 1011 }));
  let looks = 0;
  let overloaded = 0;
  let unknown = 0;
  let isLater = false;
  await page.route(/\/v1\/reservations\//, (route) => {
    looks += 1;
    if (looks === 1) return route.fulfill(queued(id));
    if (unknown === 0 || (isLater && unknown === 1)) {
      unknown += 1;
      return route.fulfill(problem(404, 'unknown_reservation'));
    }
    if (isLater) return route.fallback();
    overloaded += 1;
    return route.fulfill(problem(503, 'overloaded'));
  });
  await page.clock.install();
  await go(`reservations/${id}`);
  await heading(page, 'You are in').waitFor();
  await passing(() => page.clock.runFor(2_000), () => overloaded).toBeGreaterThan(0);
  // The second 404 comes more than a minute after the first, but there were other answers between them.
  await page.clock.runFor(MINUTE_MS);
  isLater = true;
  await passing(() => page.clock.runFor(2_000), () => heading(page, 'Reserved for you').count()).toBe(1);
  expect(unknown).toBe(2);
});

onStandIn.test('with push, the page hardly polls, and loads news at once; when push is cut, polling takes over', async () => {
  const { id, user } = await shop.buy(await shop.sell());
  const { page, go } = await visit({ user });
  const sockets = [];
  let isCut = false;
  await page.routeWebSocket(/./, (socket) => (isCut ? socket.close({ code: 1011 }) : sockets.push(socket)));
  const looks = requests(page, /\/v1\/reservations\//);
  let heard = 0;
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => { heard += looks.includes(request) ? 1 : 0; });
  await page.route(/\/v1\/reservations\//, (route) => route.fulfill(queued(id)));
  await page.clock.install();
  await go(`reservations/${id}`);
  await heading(page, 'You are in').waitFor();
  await page.clock.runFor(1_000);
  await expect.poll(() => sockets.length).toBe(1);
  // A request that the page has started may be answered late, since the page's clock does not wait for it.
  let settled = looks.length;
  await expect.poll(async () => {
    settled = looks.length;
    await page.clock.runFor(20_000);
    return looks.length - settled;
  }).toBe(0);
  // Right after an ordinary look, the clock stands still: only the news can cause the next one.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + MINUTE_MS);
  settled = looks.length;
  await passing(() => page.clock.runFor(1_000), () => looks.length).toBeGreaterThan(settled);
  settled = looks.length;
  await sockets[0].send(JSON.stringify({ type: 'reservation', reservation_id: id, status: 'pending_payment' }));
  await expect.poll(() => looks.length).toBeGreaterThan(settled);
  settled = looks.length;
  isCut = true;
  await sockets[0].close({ code: 1011 });
  // With push it would look once more after a moment, and then after half a minute.
  for (let s = 0; s < 25; s += 1) {
    await page.clock.runFor(1_000);
    await expect.poll(() => heard).toBe(looks.length);
  }
  expect(looks.length).toBeGreaterThan(settled + 3);
});

onStandIn.test('a countdown is seldom announced', async () => {
  const opensInMs = 6 * MINUTE_MS;
  const { page, enter } = await selling({ opensInMs });
  await page.clock.install();
  await enter();
  await heading(page, 'Opens in').waitFor();
  await listen(page);
  // The server's clock stands still meanwhile; the page's clock runs on from its last sample.
  await page.route(/\/v1\/sales\//, (route) => route.abort());
  await page.clock.runFor(opensInMs + 2_000);
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
  const said = (await announced(page)).filter((text) => text !== '');
  expect(said.length).toBeGreaterThanOrEqual(4);
  expect(said.length).toBeLessThanOrEqual(7);
  expect(said).toContain('The sale is open. You can buy now.');
});

onStandIn.test('orders are paginated', async () => {
  const { page, go } = await visit();
  const order = (at) => ({
    reservation_id: `lamp.1.${String(at).padStart(32, '0')}`, status: 'paid', unit: at, reserved_at: '2026-11-24T09:00:00.000Z',
    ended_at: '2026-11-24T09:01:00.000Z', price_minor: 990, currency: 'EUR',
  });
  await page.route(/\/v1\/orders/, (route) => {
    const second = new URL(route.request().url()).searchParams.get('cursor') === `1.${order(2).reservation_id}`;
    return route.fulfill({ json: second ? { orders: [order(3)] } : { orders: [order(1), order(2)], next_cursor: `1.${order(2).reservation_id}` } });
  });
  await go('orders');
  await page.getByRole('button', { name: 'Show older orders' }).click();
  await expect.poll(() => page.locator('.order').count()).toBe(3);
  expect(await page.locator('.order a').nth(2).evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await page.getByRole('button', { name: 'Show older orders' }).count()).toBe(0);
});

onStandIn.test('two quick clicks make one attempt', async () => {
  const { page, enter } = await selling();
  const asked = requests(page, /\/challenges$/);
  await enter();
  await page.getByRole('button', { name: 'Buy now' }).dblclick();
  await page.getByLabel('Your answer').waitFor();
  expect(asked.length).toBe(1);
});

onStandIn.test('signing in at an issuer returns to the same screen', async () => {
  const other = await shopWithIssuer();
  const sale = await other.sell();
  const { page } = await arrive(`sales/${sale}`, {}, other);
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByRole('button', { name: 'Continue to sign in' }).click();
  await page.waitForURL(new RegExp(`#/sales/${sale}$`));
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByLabel('Your answer').waitFor();
  expect(page.url()).not.toContain('code=');
});
