// Operators look up orders, export them, and mark refunds.

import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { operators } from '../words/operators.js';
import { problem } from './answers.js';
import { DESKTOP, LITTLE_SHIFT, painted } from './browser.js';
import { desk, operate, short } from './desk.js';
import { inEachWay, onBoth, onStandIn, shop } from './visits.js';

const money = { price_minor: 18_900, currency: 'EUR' };

/** Waits until operators can find `count` orders, and returns them. */
const written = (filter, count) => shop.until(async () => {
  const { orders } = await shop.operate('GET', `/v1/admin/orders?${new URLSearchParams(filter)}`);
  return orders.length >= count && orders;
});

/** A sale with an order that was paid after it was cancelled, so a refund is due. */
async function due(title = 'Enamel lamp') {
  const sale = await shop.sell({ title });
  const bought = await shop.buy(sale);
  await written({ sale }, 1);
  await shop.giveBack(bought);
  expect(await shop.pay(bought)).toBe('refund_due');
  const refund = await shop.until(async () => (await allRefunds()).find(({ reservation_id: id }) => id === bought.id));
  return { ...bought, sale, payment: refund.payment_id };
}

async function allRefunds() {
  const all = [];
  for (let cursor = ''; ;) {
    const { refunds, next_cursor: next } = await shop.operate('GET', `/v1/admin/refunds${cursor}`);
    all.push(...refunds);
    if (!next) return all;
    cursor = `?cursor=${next}`;
  }
}

const rows = (page) => page.locator('.results tbody tr');

onStandIn.test('the pages are reachable by keyboard, and the current one is marked', async () => {
  const { page } = await operate('');
  const nav = page.getByRole('navigation', { name: 'Operations' });
  await page.getByRole('link', { name: 'New sale' }).waitFor();
  expect(await nav.getByRole('link').allTextContents()).toEqual(['Sales', 'Orders', 'Refunds', 'Campaigns', 'Users', 'Health']);
  const current = () => nav.locator('[aria-current=page]').textContent();
  expect(await current()).toBe('Sales');
  for (const name of ['Orders', 'Refunds', 'Campaigns', 'Users', 'Health']) {
    await nav.getByRole('link', { name }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(await current()).toBe(name);
    expect(await page.title()).toContain(name);
    expect(await page.evaluate(() => document.activeElement.tagName)).toBe('H1');
  }
});

onBoth.test('orders are found by a filter that is part of the address, and one is opened', async () => {
  const sale = await shop.sell({ per_user_limit: 7 });
  const user = shop.user();
  const bought = [await shop.buy(sale, user), await shop.buy(sale, user), ...await shop.buyers(sale, 5)];
  // More than a page of the stand-in; the real system shows them on one page.
  await shop.untilAll(bought, 'pending_payment');
  await shop.giveBack(bought[0]);
  await shop.untilAll([bought[0]], 'cancelled');
  const { page } = await operate('orders');
  await page.getByLabel('Sale', { exact: true }).fill(sale);
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await rows(page).first().waitFor();
  expect(new URL(page.url()).hash).toBe(`#/orders?sale=${sale}`);
  const more = page.getByRole('button', { name: 'More' });
  if (!process.env.SHOP_URL) {
    await page.getByText('Shown: 5. There are more.').waitFor();
    await more.click();
  }
  await expect.poll(() => rows(page).count()).toBe(7);
  expect(await more.count()).toBe(0);
  // After "more", the focus is on the first new row.
  if (!process.env.SHOP_URL) expect(await page.evaluate(() => document.activeElement.closest('tr').rowIndex)).toBe(6);

  await page.getByLabel('User').fill(user);
  await page.getByLabel('State').selectOption({ label: 'Cancelled' });
  await page.getByLabel('User').press('Enter');
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.reload();
  await expect.poll(() => rows(page).count()).toBe(1);
  expect(await page.getByLabel('User').inputValue()).toBe(user);
  expect(await page.getByLabel('State').inputValue()).toBe('cancelled');
  expect((await rows(page).innerText()).split(/\s*\t\s*|\n/)).toEqual(expect.arrayContaining([short(bought[0].id), user, 'Cancelled', '€189.00']));

  // The browser's history goes from filter to filter.
  await page.goBack();
  expect(await page.getByLabel('User').inputValue()).toBe('');
  await page.goForward();
  await expect.poll(() => page.getByLabel('User').inputValue()).toBe(user);
  await rows(page).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: `Order ${short(bought[0].id)}` }).waitFor();
  await page.getByText('No payment has come.').waitFor();
  expect(await page.locator('.history span').allTextContents()).toEqual(['Reserved', 'Ordered', 'Cancelled']);
  await page.locator('.back').click();
  await expect.poll(() => rows(page).count()).toBe(1);
});

onStandIn.test('times in a filter are the browser\'s, or exactly those of the link', async () => {
  const sale = await shop.sell();
  const { id } = await shop.buy(sale);
  const [order] = await written({ sale }, 1);
  const at = (ms) => new Date(Date.parse(order.ordered_at) + ms).toISOString();
  const { page } = await operate(`orders?${new URLSearchParams({ sale, from: at(-1), to: at(1) })}`, { timezoneId: 'Asia/Shanghai' });
  await rows(page).getByRole('link', { name: `Order ${short(id)}` }).waitFor();
  const shown = await page.getByLabel('Ordered from').inputValue();
  expect(shown).toBe(new Date(Date.parse(at(-1)) + 8 * 3_600_000).toISOString().slice(0, 16));
  // Sent again, the filter is the same, although the field shows whole minutes.
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.getByLabel('Ordered from').fill('2030-01-01T08:00');
  await page.getByLabel('Ordered before').fill('');
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await page.getByRole('heading', { name: 'No orders' }).waitFor();
  expect(new URLSearchParams(page.url().split('?')[1]).get('from')).toBe('2030-01-01T00:00:00.000Z');
});

onStandIn.test('errors in a filter are shown beside it, and nothing is lost', async () => {
  const { page, go } = await operate('orders');
  const error = page.locator('#orders-error');
  const find = () => page.getByRole('button', { name: 'Find', exact: true }).click();
  await page.getByLabel('Round').fill('2');
  await find();
  await expect.poll(() => error.textContent()).toBe('A round needs its sale.');
  const sale = page.getByLabel('Sale', { exact: true });
  expect(await sale.getAttribute('aria-invalid')).toBe('true');
  expect(await sale.getAttribute('aria-describedby')).toBe('orders-error');
  expect(await page.evaluate(() => document.activeElement.name)).toBe('sale');
  await sale.fill('nothing-here');
  await page.getByLabel('Round').fill('x');
  await find();
  await expect.poll(() => error.textContent()).toBe('A round is a whole number from 1.');
  expect(await page.getByLabel('Round').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Round').inputValue()).toBe('x');
  await page.getByLabel('Round').fill('');
  await find();
  await expect.poll(() => error.textContent()).toContain('There is no such sale');
  // Without a sale there is nothing to export.
  expect(await page.getByRole('button', { name: 'Export as CSV' }).count()).toBe(0);
  // Errors that only the system finds are shown at their fields as well.
  await go('orders?user=bob&state=lost');
  await expect.poll(() => error.textContent()).toContain('state:');
  expect(await page.getByLabel('State').getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('button', { name: 'Clear' }).click();
  await sale.fill('nothing-here');
  await find();
  await expect.poll(() => error.textContent()).toContain('There is no such sale');
  // Changing the language keeps the input.
  await page.getByLabel('User').fill('typed, not sent');
  await page.getByRole('button', { name: '中文' }).click();
  expect(await page.getByLabel('用户').inputValue()).toBe('typed, not sent');
  expect(await page.getByLabel('抢购', { exact: true }).inputValue()).toBe('nothing-here');
  await page.getByRole('button', { name: '清空' }).click();
  await expect.poll(() => page.url()).toMatch(/#\/orders$/);
  await expect.poll(() => error.textContent()).toBe('');
});

onStandIn.test('what is typed right after a filter was cleared stays', async () => {
  const { page } = await operate('orders?user=bob');
  await page.getByRole('button', { name: 'Clear' }).waitFor();
  await page.evaluate(() => new Promise((moved) => {
    addEventListener('hashchange', () => setTimeout(moved), { once: true });
    [...document.querySelectorAll('button')].find((button) => button.textContent === 'Clear').click();
    document.querySelector('[name=sale]').value = 'typed on';
  }));
  expect(await page.getByLabel('Sale', { exact: true }).inputValue()).toBe('typed on');
  expect(await page.getByLabel('User').inputValue()).toBe('');
  // Going back restores the filter.
  await page.goBack();
  await expect.poll(() => page.getByLabel('User').inputValue()).toBe('bob');
  expect(await page.getByLabel('Sale', { exact: true }).inputValue()).toBe('');
});

onStandIn.test('the search for a rare state continues through empty pages', async () => {
  const sale = await shop.sell();
  let asked = 0;
  const { page, go } = await desk();
  await page.route(/\/v1\/admin\/orders\?/, async (route) => {
    asked += 1;
    const cursor = `1.${sale}.1.${'a'.repeat(32)}.${String(asked).padStart(16, '0')}`;
    await route.fulfill({ json: { orders: [], ...(asked < 7 ? { next_cursor: cursor } : {}) } });
  });
  await go(`orders?sale=${sale}&state=failed`);
  await page.getByRole('heading', { name: 'None so far' }).waitFor();
  expect(asked).toBe(5);
  await page.getByRole('button', { name: 'Look further' }).click();
  await page.getByRole('heading', { name: 'No orders' }).waitFor();
  expect(asked).toBe(7);
});

onStandIn.test('a page that fails to load is reported, keeps the rows, and can be retried', async () => {
  const sale = await shop.sell();
  const { id } = await shop.buy(sale);
  const [order] = await written({ sale }, 1);
  const { page, go } = await desk();
  let asked = 0;
  await page.route(/\/v1\/admin\/orders\?/, (route) => {
    asked += 1;
    if (asked === 2) return route.abort();
    const cursor = `1.${id}.${'0'.repeat(16)}`;
    return route.fulfill({ json: { orders: [{ ...order, unit: asked }], ...(asked === 1 ? { next_cursor: cursor } : {}) } });
  });
  await go(`orders?sale=${sale}`);
  const more = page.getByRole('button', { name: 'More' });
  await more.click();
  await expect.poll(() => page.locator('#orders-error').textContent()).toBe('No connection');
  expect(await rows(page).count()).toBe(1);
  await more.click();
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(await page.locator('#orders-error').textContent()).toBe('');
});

onBoth.test('a round is exported page by page into one file, while other screens are open', async () => {
  const sale = await shop.sell();
  const bought = await shop.buyers(sale, 7);
  await shop.untilAll(bought, 'pending_payment');
  await shop.until(async () => {
    const { orders, next_cursor: next } = await shop.operate('GET', `/v1/admin/orders?sale=${sale}`);
    return Boolean(next) || orders.length === bought.length;
  });
  const { page } = await operate(`orders?sale=${sale}`);
  const held = [];
  await page.route(/\/rounds\/1\/orders\?.*cursor=/, (route) => held.push(route));
  // A busy answer does not end it.
  let busy = 0;
  await page.route(/\/rounds\/1\/orders\?format=csv$/, (route) => ((busy += 1) === 1
    ? route.fulfill(problem(503, 'overloaded', {}, { 'retry-after': '1' }))
    : route.continue()));
  const saved = page.waitForEvent('download');
  const go = page.getByRole('button', { name: 'Export as CSV' });
  await go.focus();
  await page.keyboard.press('Enter');
  if (!process.env.SHOP_URL) {
    await page.getByText('3 of about 7 rows …').waitFor();
    // The focus is on the button that cancels it.
    expect(await page.evaluate(() => document.activeElement.textContent)).toBe('Cancel the export');
    await rows(page).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.unroute(/\/rounds\/1\/orders\?.*cursor=/);
    await held[0].continue();
  }
  const download = await saved;
  expect(busy).toBe(2);
  expect(download.suggestedFilename()).toBe(`orders-${sale}-1.csv`);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  // The byte order mark is what Excel needs.
  expect(lines[0]).toMatch(/^\ufeffreservation_id,sale_id,round,user,/);
  expect(lines.slice(1).map((line) => line.split(',')[0]).sort()).toEqual(bought.map(({ id }) => id).sort());
  await page.getByRole('navigation').getByRole('link', { name: 'Orders' }).click();
  await page.locator('.rows', { hasText: `${sale}, round 1: saved. Rows: 7.` }).waitFor();
});

onStandIn.test('a cancelled export requests nothing more and saves nothing', async () => {
  const sale = await shop.sell();
  await shop.buy(sale);
  await written({ sale }, 1);
  const { page } = await operate(`orders?sale=${sale}&round=1`);
  let asked = 0;
  const downloads = [];
  page.on('download', (one) => downloads.push(one));
  let answer;
  await page.route(/\/rounds\/1\/orders\?/, async (route) => {
    asked += 1;
    const next = `</v1/admin/sales/${sale}/rounds/1/orders?format=csv&cursor=${asked}>; rel="next"`;
    if (asked === 3) await new Promise((done) => {
      answer = done;
    });
    await route.fulfill({ contentType: 'text/csv', body: 'a\r\n', headers: { 'export-rows': '1000', 'export-rows-about': '100000', link: next } }).catch(() => {});
  });
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  await page.getByText('2,000 of about 100,000 rows …').waitFor();
  await expect.poll(() => asked).toBe(3);
  await page.getByRole('button', { name: 'Cancel the export' }).click();
  await page.locator('.rows', { hasText: 'Cancelled. Nothing was saved.' }).waitFor();
  answer();
  await page.getByRole('button', { name: 'Export as CSV' }).waitFor();
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await rows(page).first().waitFor();
  expect([asked, downloads.length]).toEqual([3, 0]);
});

onStandIn.test('a refund is marked once, and the second operator sees who did it', async () => {
  const { id, user, sale } = await due();
  const { page } = await operate('refunds');
  const row = (at) => rows(at).filter({ has: at.getByRole('link', { name: `Order ${short(id)}` }) });
  const turn = async (at) => {
    const more = at.getByRole('button', { name: 'More', exact: true });
    await rows(at).first().waitFor();
    while (await row(at).count() === 0) {
      const before = await rows(at).count();
      await more.click();
      await expect.poll(() => rows(at).count()).toBeGreaterThan(before);
    }
  };
  await turn(page);
  expect(await row(page).innerText()).toContain('€189.00');
  expect(await row(page).innerText()).toContain(user);
  const second = await operate('refunds', { user: 'olga' });
  await turn(second.page);

  const mark = async (at, how) => {
    await row(at).getByRole('button').click();
    const dialog = at.getByRole('dialog');
    const text = await dialog.locator('p').first().textContent();
    expect(text).toContain('€189.00');
    expect(text).toContain(short(id));
    await dialog.getByRole('button', { name: how, exact: true }).click();
  };
  await mark(page, 'Cancel');
  expect(await row(page).count()).toBe(1);
  await mark(page, 'Mark as refunded');
  await page.getByText(`€189.00 for order ${short(id)}: marked as refunded.`).waitFor();
  expect(await row(page).count()).toBe(0);
  await mark(second.page, 'Mark as refunded');
  await second.page.getByText(`€189.00 for order ${short(id)} was marked before, by operator`).waitFor();
  expect(await row(second.page).count()).toBe(0);

  await second.go(`orders/${id}`);
  await second.page.locator('.history li', { hasText: 'marked as refunded by operator' }).waitFor();
  await second.page.locator('.listing .badge', { hasText: 'Refunded' }).waitFor();
  expect(await second.page.getByRole('link', { name: `${sale}, round 1` }).getAttribute('href')).toBe(`#/sales/${sale}`);
});

onStandIn.test('a failed mark keeps the row, and can be retried', async () => {
  const { id, payment } = await due();
  const { page, go } = await desk();
  const refund = { payment_id: payment, reservation_id: id, user: 'bob', order_state: 'cancelled', ...money, due_at: '2026-11-24T09:16:00Z' };
  const others = [{ ...refund, payment_id: 'pay_2', price_minor: 990 }];
  await page.route(/\/v1\/admin\/refunds$/, (route) => route.fulfill({ json: { refunds: [refund, ...others] } }));
  let tried = 0;
  await page.route(/\/refunds\/refunded$/, (route) => ((tried += 1) === 1 ? route.abort() : route.continue()));
  await go('refunds');
  const mark = async () => {
    await page.getByRole('button', { name: `Mark as refunded: €189.00, Order ${short(id)}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as refunded' }).click();
  };
  await mark();
  await page.getByText('It did not work: No connection').waitFor();
  expect(await rows(page).count()).toBe(2);
  await page.getByRole('dialog').getByRole('button', { name: 'Mark as refunded' }).click();
  await page.getByText('marked as refunded.').waitFor();
  expect(await rows(page).count()).toBe(1);
  // The focus is on the next refund.
  await expect.poll(() => page.evaluate(() => document.activeElement.getAttribute('aria-label'))).toContain('€9.90');
});

onStandIn.test('without refunds the page says so', async () => {
  const { page, go } = await desk();
  await page.route(/\/v1\/admin\/refunds$/, (route) => route.fulfill({ json: { refunds: [] } }));
  await go('refunds');
  await page.getByRole('heading', { name: 'No refunds due' }).waitFor();
});

onStandIn.test('a former operator sees only that', async () => {
  const { page } = await operate('orders');
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  await page.route(/\/v1\/admin\/orders\?/, (route) => route.fulfill(problem(403, 'forbidden')));
  await page.getByLabel('User').fill('bob');
  await page.getByLabel('User').press('Enter');
  await page.getByRole('heading', { level: 1, name: 'You have no access' }).waitFor();
  expect(await page.locator('form, nav').count()).toBe(0);
});

inEachWay('merchant', 'orders and refunds are accessible, and nothing shifts', async ({ language, options, holds }) => {
  const words = operators[language];
  const { id, sale } = await due('Enamel pendant lamp');
  const paid = await shop.buy(sale);
  await shop.buy(sale);
  await written({ sale }, 3);
  expect(await shop.pay(paid)).toBe('applied');
  const one = await operate('orders', options);
  const { page, go } = one;
  await page.getByRole('heading', { level: 1, name: words['op.nav.orders'] }).waitFor();
  await holds(one, 'orders-first');
  await go(`orders?sale=${sale}`);
  await rows(page).nth(2).waitFor();
  await holds(one, 'orders');
  await page.getByLabel(words['op.orders.round'], { exact: true }).fill('none');
  await page.getByRole('button', { name: words['op.orders.find'], exact: true }).click();
  await page.locator('[aria-invalid]').waitFor();
  await holds(one, 'orders-error');
  await go(`orders?sale=${sale}&state=failed`);
  await page.getByRole('heading', { name: words['op.orders.none.title'] }).waitFor();
  await holds(one, 'orders-none');
  await page.getByRole('button', { name: words['op.export'] }).click();
  await page.locator('.rows', { hasText: words['op.export.done'].replace('{sale}', sale).replace('{round}', '1').replace('{n}', '3') }).waitFor();
  await go(`orders/${id}`);
  await page.locator('.history').waitFor();
  await holds(one, 'order');
  await go('refunds');
  await rows(page).first().waitFor();
  await holds(one, 'refunds');
  await rows(page).first().getByRole('button').click();
  await page.getByRole('dialog').waitFor();
  await holds(one, 'refund-question');
});

inEachWay('merchant', 'the page for everyone else is accessible, and nothing shifts', async ({ language, options, holds }) => {
  const one = await desk({ ...options, operator: false, user: shop.user() });
  const { page } = one;
  // What was shown until the answer came stays where it is.
  await page.route(/\/v1\/admin\//, async (route) => {
    await page.locator('.lead').waitFor();
    await painted(page);
    await route.fallback();
  });
  await one.go('orders');
  await page.getByRole('heading', { level: 1, name: operators[language]['problem.forbidden.title'] }).waitFor();
  await holds(one, 'refused', LITTLE_SHIFT);
  // A wider window needs less room for what is absent.
  await page.setViewportSize(DESKTOP.viewport);
  expect(await page.locator('#header').evaluate(({ offsetHeight }) => offsetHeight)).toBeLessThan(80);
});
