import { expect } from 'vitest';
import { problem } from './answers.js';
import { GOOD_SHIFT } from './browser.js';
import { arrive, atSale, enabledAt, heading, onBoth, onStandIn, reserve, selling, shop, test, visit, work } from './visits.js';

const HOUR_MS = 3_600_000;

/** The default of a sale. */
const USUAL_WORK_BITS = 20;
/** Longer than a busy machine takes to open a page. */
const OPENED_WITHIN_MS = 20_000;
/** When each tab is closed: some before they have loaded, some during the proof of work, some when all is done. */
const TABS_CLOSE_AFTER_MS = [200, 500, 800, 1_200, 1_600, 2_200, 3_000, 4_000];

test('a purchase from the list to the payment, by keyboard only', async () => {
  const sale = await shop.sell({ gate: { work_bits: USUAL_WORK_BITS } });
  const campaign = await shop.campaign([sale]);
  const { page, answers, shift, go } = await visit({});
  const user = shop.user();
  await go('');
  const enter = async (locator) => {
    await locator.focus();
    await page.keyboard.press('Enter');
  };
  // A new page takes the focus to its heading, whatever has it.
  const arrived = () => expect.poll(() => page.evaluate(() => document.activeElement.tagName)).toMatch(/H1|MAIN/);
  await enter(page.getByRole('navigation', { name: 'Campaigns' }).locator(`a[href="#/campaigns/${campaign}"]`));
  await arrived();
  await enter(page.locator(`a[href="#/sales/${sale}"]`));
  await arrived();
  await enter(page.getByRole('button', { name: 'Buy now' }));
  await page.getByLabel('Name', { exact: true }).waitFor();
  await page.keyboard.type(user);
  await page.keyboard.press('Enter');
  await page.getByLabel('Your answer').waitFor();
  await enter(page.getByRole('button', { name: 'I cannot see the picture' }));
  await heading(page, 'Reserved for you').waitFor();
  await enter(page.getByRole('button', { name: /^Pay/ }));
  await heading(page, 'It is yours').waitFor();
  expect(await page.evaluate(() => document.activeElement.textContent)).toBe('It is yours');
  await enter(page.getByRole('link', { name: 'See my orders' }));
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await shift()).toBeLessThan(GOOD_SHIFT);
  expect(answers).toEqual([]);
});

onStandIn.test.each([['behind', -HOUR_MS], ['ahead', HOUR_MS]])('the button opens on time with a clock an hour %s, without a reload', async (_, offsetMs) => {
  const opensAt = Date.now() + OPENED_WITHIN_MS;
  const { page } = await atSale({ opensInMs: OPENED_WITHIN_MS }, { offsetMs, user: shop.user() });
  const buy = page.locator('[data-keep=buy]');
  expect(await buy.getAttribute('aria-disabled')).toBe('true');
  await enabledAt(page, opensAt);
  await reserve(page);
  await heading(page, 'Reserved for you').waitFor();
  expect(await page.locator('.face').textContent()).toMatch(/^1[45]:/);
}, 240_000);

onStandIn.test('a buyer who is too early is told so, and the button appears by itself', async () => {
  const { page, enter } = await selling();
  await page.route(/\/challenges$/, (route) => route.fulfill(
    problem(409, 'not_open', { opens_at: new Date(Date.now() + 8_000).toISOString() }, { 'retry-after': '8' })), { times: 1 });
  await enter();
  await page.getByRole('button', { name: 'Buy now' }).click();
  await heading(page, 'Opens in').waitFor();
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
});

onStandIn.test('sold out', async () => {
  const sale = await shop.sell({ total: 1, per_user_limit: 1 });
  const { page } = await arrive(`sales/${sale}`);
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByLabel('Your answer').waitFor();
  await shop.buy(sale);
  await work(page);
  await heading(page, 'Sold out').waitFor();
  await page.getByRole('button', { name: 'Look again' }).click();
  await heading(page, 'Sold out').waitFor();
});

onBoth.test('at the limit, the buyer\'s reservations are shown with their current status', async () => {
  const user = shop.user();
  const { page, enter, sale } = await selling({}, { user });
  // The page asks once what the user has here.
  const looked = page.waitForResponse((response) => response.url().endsWith(`/v1/sales/${sale}/reservation`));
  await enter();
  const buy = page.getByRole('button', { name: 'Buy now' });
  await buy.waitFor();
  await looked;
  const { id } = await shop.buy(sale, user);
  await buy.click();
  await work(page);
  await heading(page, 'That is your limit').waitFor();
  await page.locator('.reservations .badge:not(.unknown)').waitFor();
  await page.locator('.reservations a').click();
  await page.waitForURL(new RegExp(`#/reservations/${id}$`));
});

test('a session that ends during a purchase: sign in again, and continue', async () => {
  const user = shop.user();
  const { page } = await atSale({}, { user });
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByLabel('Your answer').waitFor();
  await page.route(/\/(challenges|tokens)$/, (route) => {
    const authorization = `${route.request().headers().authorization}x`;
    return route.continue({ headers: { ...route.request().headers(), authorization } });
  }, { times: 1 });
  await work(page);
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill(user);
  await page.keyboard.press('Enter');
  await heading(page, 'Reserved for you').waitFor();
});

test('a reload while reserving repeats the same request', async () => {
  const { page, enter } = await selling({ per_user_limit: 5 });
  const keys = [];
  await page.route(/\/reservations\/[\w-]+$/, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.fallback();
    await route.fetch({ maxRetries: 2 });
    return route.abort();
  });
  await enter();
  await page.getByRole('button', { name: 'Buy now' }).click();
  await work(page);
  await heading(page, 'No connection').waitFor();
  await page.reload();
  await page.waitForURL(/#\/reservations\//);
  await heading(page, 'Reserved for you').waitFor();
  expect(new Set(keys).size).toBe(1);
  await page.getByRole('link', { name: 'My orders' }).click();
  await page.locator('.order').first().waitFor();
  expect(await page.locator('.order').count()).toBe(1);
});

test('the time to pay runs out on the page, and the order expires', async () => {
  const { page, enter } = await selling({ payment_window_s: 15 });
  // The system may report the expiry before the page's own clock does, so its answer is held back.
  await page.routeWebSocket(/\/push/, (socket) => socket.close({ code: 1011 }));
  const held = [];
  let holds = false;
  await page.route(/\/v1\/reservations\//, (route) => (holds ? held.push(route) : route.continue()));
  await enter();
  await reserve(page);
  await heading(page, 'Reserved for you').waitFor();
  holds = true;
  await heading(page, 'The time to pay is up').waitFor();
  holds = false;
  for (const route of held) await route.continue();
  await heading(page, 'Not paid in time').waitFor();
});

test('more can be bought up to the limit, and not beyond it', async () => {
  const { page, enter } = await selling({ per_user_limit: 2 });
  const another = page.getByRole('button', { name: 'Buy another' });
  await enter();
  await reserve(page);
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await another.click();
  await work(page);
  await page.waitForURL(/#\/reservations\//);
  await heading(page, 'Reserved for you').waitFor();
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await page.getByText('You have reached the limit for one person.').waitFor();
  expect(await page.getByRole('button', { name: /^Buy/ }).count()).toBe(0);
  // A returned unit no longer counts.
  await page.getByRole('link', { name: 'Go to my reservation' }).click();
  await page.getByRole('button', { name: 'Give it back' }).click();
  await page.getByRole('button', { name: 'Yes, give it back' }).click();
  await heading(page, 'Given back').waitFor();
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await another.waitFor();
});

onStandIn.test('purchases made elsewhere are found on arrival, and at the limit no more are offered', async () => {
  const sale = await shop.sell();
  const { id, user } = await shop.buy(sale);
  const { page } = await arrive(`sales/${sale}`, { user });
  await page.getByText('You have a reservation for this.').waitFor();
  await page.getByText('You have reached the limit for one person.').waitFor();
  expect(await page.getByRole('button', { name: /^Buy/ }).count()).toBe(0);
  await page.locator('.yours a').click();
  await page.waitForURL(new RegExp(`#/reservations/${id}$`));
});

onStandIn.test('a buyer who signs in after buying elsewhere starts no second purchase', async () => {
  const sale = await shop.sell({ per_user_limit: 2 });
  const { user } = await shop.buy(sale);
  const { page } = await arrive(`sales/${sale}`, { user: null });
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByLabel('Name', { exact: true }).fill(user);
  await page.keyboard.press('Enter');
  await page.getByText('You have a reservation for this.').waitFor();
  await page.getByRole('button', { name: 'Buy another' }).waitFor();
});

onStandIn.test('eight tabs, closed at any point of a purchase, make one reservation, which the next tab finds', async () => {
  const user = shop.user();
  const { context, page: first, sale } = await atSale({ per_user_limit: 3 }, { user });
  await first.getByRole('button', { name: 'Buy now' }).waitFor();
  for (const closesAfterMs of TABS_CLOSE_AFTER_MS) {
    const page = await context.newPage();
    await page.goto(`/#/sales/${sale}`);
    await Promise.race([reserve(page).catch(() => {}), page.waitForTimeout(closesAfterMs)]);
    await page.close();
  }
  const last = await context.newPage();
  await last.goto(`/#/sales/${sale}`);
  const [buy, link, reserved] = [last.getByRole('button', { name: 'Buy now' }), last.locator('.yours a'), heading(last, 'Reserved for you')];
  // If a tab was closed while it was reserving, this one repeats the request by itself.
  await buy.or(link).or(reserved).first().waitFor();
  if (await buy.isVisible()) await reserve(last);
  else if (await link.isVisible()) await link.click();
  await reserved.waitFor();
  const token = await shop.login(user);
  const [one, ...others] = (await shop.ask('GET', `/v1/sales/${sale}/reservation`, { token })).body.reservations;
  expect(others).toEqual([]);
  await last.waitForURL(new RegExp(`#/reservations/${one.reservation_id}$`));
}, 300_000);

onStandIn.test('Chinese, by the browser\'s language and by the switch', async () => {
  const { page } = await atSale({}, { user: shop.user(), locale: 'zh-CN' });
  await page.getByRole('button', { name: '立即购买' }).click();
  await page.getByRole('button', { name: '我看不到图片' }).click();
  await heading(page, '已为您保留').waitFor();
  expect(await page.getAttribute('html', 'lang')).toBe('zh-Hans');
  await page.getByRole('button', { name: 'English' }).click();
  await heading(page, 'Reserved for you').waitFor();
  await page.reload();
  await heading(page, 'Reserved for you').waitFor();
});
