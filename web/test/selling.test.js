// A merchant's desk: the table of sales, the editor, the checklist, the log and the report.

import { expect } from 'vitest';
import { operators } from '../words/operators.js';
import { act, desk, field, figure, operate, short, succeed, write } from './desk.js';
import { fresh } from './shop.js';
import { inEachWay, onBoth, onStandIn, shop, shot, test } from './visits.js';

const create = (page) => page.getByRole('button', { name: 'Create the draft' });
const row = (page, id) => page.getByRole('row').filter({ hasText: id });
const find = (id) => shop.operate('GET', `/v1/admin/sales/${id}`);
const ordersOf = async (sale, more = '') => (await shop.operate('GET', `/v1/admin/orders?sale=${sale}${more}`)).orders;

onStandIn.test('the table shows each sale\'s state, opening, sold units and revenue', async () => {
  const [draft, ahead, open_] = await Promise.all([
    shop.sell({ title: 'A draft', published: false, opensInMs: 7_200_000 }), shop.sell({ title: 'Ahead', opensInMs: 5_400_000 }), shop.sell({ title: 'Running' }),
  ]);
  const bought = await shop.buyers(open_, 6);
  await shop.untilAll(bought, 'pending_payment');
  for (const one of bought.slice(0, 2)) await shop.pay(one);
  const { page } = await operate();
  await row(page, draft).locator('.badge', { hasText: 'Draft' }).waitFor();
  await row(page, ahead).locator('.badge', { hasText: 'Published' }).waitFor();
  const time = row(page, ahead).locator('.ticks');
  const before = await time.textContent();
  expect(before).toMatch(/^Opens in 1:2\d:\d\d$/);
  await expect.poll(() => time.textContent(), { timeout: 10_000 }).not.toBe(before);
  // Adds up the pages of the report.
  await row(page, open_).getByText('6 of 10').waitFor({ timeout: 60_000 });
  await row(page, open_).getByText('€378.00').waitFor({ timeout: 60_000 });
  await shop.operate('POST', '/v1/admin/stop', { sale_id: open_ });
  await row(page, open_).locator('.badge', { hasText: 'Stopped' }).waitFor({ timeout: 30_000 });
  await page.getByRole('link', { name: 'Drafts', exact: true }).click();
  await row(page, draft).waitFor();
  // The draft was in the list before.
  await expect.poll(() => row(page, ahead).count()).toBe(0);
  await page.goBack();
  await row(page, ahead).waitFor();
});

onStandIn.test('a state with many sales is shown page by page', async () => {
  for (let n = 0; n < 25; n += 1) await shop.operate('POST', '/v1/admin/sales', { sale_id: fresh(`many-${n}`), title: `Many ${n}`, opens_at: '2097-01-01T00:00:00Z', closes_at: '2097-01-02T00:00:00Z', total: 1, per_user_limit: 1, price_minor: 1, currency: 'EUR', payment_window_s: 900 });
  const { page, go } = await operate('?state=draft');
  await page.getByText('Shown: 20. There are more.').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await expect.poll(() => page.locator('.listing tbody tr').count()).toBeGreaterThan(20);
  await go('');
  await page.getByText('There are more of these:').waitFor();
});

onStandIn.test('a draft is written and previewed, survives a failure and a reload, and is edited', async () => {
  const id = fresh('written');
  const { page, go, rules } = await operate('new');
  await write(page, { title: 'Grüne Lampe' });
  expect(await field(page, 'sale_id').inputValue()).toBe('grune-lampe');
  await write(page, { sale_id: id, price: '9.999', list_price: '12.50', total: '40', window: '0.5', description: 'Enamel.\n\nWarm light.' });
  await create(page).click();
  await page.getByText('with 2 digits at most behind the point').waitFor();
  expect(await field(page, 'price').getAttribute('aria-invalid')).toBe('true');
  expect(await page.evaluate(() => document.activeElement.name)).toBe('price');
  expect(await rules()).toEqual([]);
  await write(page, { price: '9.90' });
  const preview = page.getByRole('complementary', { name: 'As the shop shows it' });
  for (const text of ['Grüne Lampe', '€9.90', '€12.50', 'Warm light.', '30 seconds']) await preview.getByText(text).first().waitFor();

  // No answer, and a reload: the input is still there.
  await page.route(/\/v1\/admin\/sales$/, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  await create(page).click();
  await page.getByText('It did not work: No connection').waitFor();
  expect(await field(page, 'description').inputValue()).toBe('Enamel.\n\nWarm light.');
  await page.unroute(/\/v1\/admin\/sales$/);
  await page.reload();
  await page.getByText('What you typed before is still here.').waitFor();
  expect(await field(page, 'title').inputValue()).toBe('Grüne Lampe');
  await page.getByRole('button', { name: '中文' }).click();
  expect(await field(page, 'price').inputValue()).toBe('9.90');
  await page.getByRole('button', { name: /^EN/ }).click();

  // A taken id is reported at the id's field.
  await shop.sell({ sale_id: `${id}-taken`, published: false });
  await write(page, { sale_id: `${id}-taken` });
  await create(page).click();
  await page.locator('#form-sale_id-error', { hasText: 'Another sale has this name' }).waitFor();
  await write(page, { sale_id: id });
  await create(page).click();
  await page.getByRole('heading', { level: 1, name: 'Grüne Lampe' }).waitFor();
  expect(await find(id)).toMatchObject({ state: 'draft', price_minor: 990, list_price_minor: 1_250, payment_window_s: 30, total: 40, description: 'Enamel.\n\nWarm light.' });
  await go('new');
  expect(await field(page, 'title').inputValue()).toBe('');

  await go(`sales/${id}/settings`);
  await write(page, { title: 'Green lamp', list_price: '' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const edited = await find(id);
  expect(edited.title).toBe('Green lamp');
  expect(edited).not.toHaveProperty('list_price_minor');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Nothing has changed.').waitFor();
});

onBoth.test('the system\'s errors are shown at their fields, all at once', async () => {
  const { page } = await operate('new');
  await write(page, { title: 'Lamp', sale_id: fresh('refused'), price: '9.90', closes: '2097-01-01T00:00', zone: 'Europe/Berlin' });
  await create(page).click();
  await page.locator('#form-closes-error', { hasText: 'at most 31 days later' }).waitFor();
  expect(await field(page, 'closes').inputValue()).toBe('2097-01-01T00:00');
  expect(await page.evaluate(() => document.activeElement.name)).toBe('closes');
});

onStandIn.test('a sale\'s gate is written, and changed after publication', async () => {
  const id = fresh('gated');
  const { page, go } = await operate('new');
  await write(page, { title: 'Gated', sale_id: id, price: '1', challenge: 'work', work_bits: '14', groups_see: 'members, staff', groups_buy: 'members' });
  await create(page).click();
  await page.getByRole('heading', { level: 1, name: 'Gated' }).waitFor();
  expect((await find(id)).gate).toEqual({ challenge: 'work', work_bits: 14, groups_see: ['members', 'staff'], groups_buy: ['members'] });
  await shop.operate('POST', `/v1/admin/sales/${id}/publish`, {});
  await go(`sales/${id}/settings`);
  await write(page, { challenge: 'none', groups_buy: '' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect((await find(id)).gate).toMatchObject({ challenge: 'none', groups_see: ['members', 'staff'] });
});

onStandIn.test('times are in the chosen zone', async () => {
  const id = fresh('zoned');
  const { page } = await operate('new', { timezoneId: 'Asia/Shanghai' });
  expect(await field(page, 'zone').inputValue()).toBe('Asia/Shanghai');
  await write(page, { title: 'Zoned', sale_id: id, price: '1', zone: 'Europe/Berlin', opens: '2097-03-01T10:00', closes: '2097-03-01T12:00', again: 'yes' });
  await page.locator('.time-note', { hasText: '5:00 PM' }).or(page.locator('.time-note', { hasText: '17:00' })).waitFor();
  await create(page).click();
  await page.getByRole('heading', { level: 1, name: 'Zoned' }).waitFor();
  expect(await find(id)).toMatchObject({ opens_at: expect.stringMatching(/^2097-03-01T09:00:00(\.000)?Z$/), recurrence: { every: 'day', time_zone: 'Europe/Berlin' } });
});

onStandIn.test('the slower operator sees the other\'s changes, and keeps their own input', async () => {
  const id = await shop.sell({ title: 'Contested', published: false, opensInMs: 7_200_000 });
  const { page, rules } = await operate(`sales/${id}/settings`);
  await write(page, { title: 'Mine', limit: '3' });
  const { version } = await find(id);
  await shop.operate('POST', `/v1/admin/sales/${id}/edit`, { version, title: 'Theirs', total: 77 });
  await page.getByRole('button', { name: 'Save' }).click();
  const changed = page.locator('.notes .hint');
  await changed.getByText('Somebody else has changed this sale.').waitFor();
  await changed.getByText('Theirs You typed: Mine.').waitFor();
  await changed.getByText('77').waitFor();
  expect(await rules()).toEqual([]);
  expect([await field(page, 'title').inputValue(), await field(page, 'limit').inputValue(), await field(page, 'total').inputValue()]).toEqual(['Mine', '3', '77']);
  await changed.getByRole('button', { name: 'Use theirs: Title' }).click();
  expect(await field(page, 'title').inputValue()).toBe('Theirs');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await find(id)).toMatchObject({ title: 'Theirs', total: 77, per_user_limit: 3 });
});

onStandIn.test('in a published sale, only what buyers were not promised can be changed', async () => {
  const id = await shop.sell({ title: 'Promised', opensInMs: 7_200_000 });
  const { page, go } = await operate(`sales/${id}/settings`);
  for (const name of ['price', 'limit', 'window', 'again', 'sale_id']) expect([name, await field(page, name).isDisabled()]).toEqual([name, true]);
  await write(page, { title: 'Kept', total: '12' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await find(id)).toMatchObject({ title: 'Kept', total: 12, price_minor: 18_900, opens_at: (await find(id)).opens_at });
  const over = await shop.sell({ title: 'Over' });
  await shop.update(over, 'close');
  await go(`sales/${over}/settings`);
  await page.getByText('Duplicate it to sell the same again.').waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
});

test('a sale is duplicated through the editor', async () => {
  const id = await shop.sell({ title: 'Original', total: 33, price_minor: 4_990 });
  const copy = fresh('copy');
  const { page } = await operate(`sales/${id}`);
  await page.getByRole('link', { name: 'Duplicate' }).click();
  expect([await field(page, 'title').inputValue(), await field(page, 'price').inputValue(), await field(page, 'sale_id').inputValue()]).toEqual(['Original', '49.90', `${id.slice(0, 43)}-copy`]);
  await write(page, { sale_id: copy });
  await create(page).click();
  await page.waitForURL(new RegExp(`#/sales/${copy}$`));
  const made = await find(copy);
  expect(made).toMatchObject({ state: 'draft', total: 33, price_minor: 4_990 });
  expect(Date.parse(made.opens_at)).toBeGreaterThan(Date.now());
});

onStandIn.test('before publication a checklist shows what is missing and what to do', async () => {
  const id = await shop.sell({ title: 'Checked', published: false, opensInMs: 90_000 });
  const { page, rules } = await operate(`sales/${id}`);
  const dialog = page.getByRole('dialog');
  const line = (text) => dialog.locator('.checklist li', { hasText: text });
  const publish = () => page.locator('.board').getByRole('button', { name: 'Publish', exact: true }).click();
  await publish();
  await line('It may open late').waitFor();
  for (const text of ['in no campaign', 'No expected audience is set', 'No picture of its own', 'No link to your terms']) expect([text, await line(text).getAttribute('class')]).toEqual([text, 'warn']);
  expect(await rules()).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const { version } = await find(id);
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  await shop.operate('POST', `/v1/admin/sales/${id}/edit`, {
    version, opens_at: at(7_300_000), closes_at: at(9_000_000), expected_audience: 20_000, pictures: ['/art/lamp.svg'], terms_url: 'https://shop.example/terms',
  });
  await shop.campaign([id], 'Checked days');
  await page.reload();
  await publish();
  await line('Checked days').waitFor();
  for (const text of ['It opens in 2 hours', 'It is loaded in time', 'Checked days', 'Pictures: 1', 'links to your terms']) expect([text, await line(text).getAttribute('class')]).toEqual([text, 'good']);
  await line('20,000').getByText(/flash plan --units 10 --audience 20000 --opens-at 2\d{3}-/).waitFor();
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.locator('.board .badge', { hasText: 'Published' }).waitFor();
});

test('a sale is postponed, withdrawn, and a draft deleted', async () => {
  const id = await shop.sell({ title: 'Moved', opensInMs: 7_200_000 });
  const { page, go, rules } = await operate(`sales/${id}`, { timezoneId: 'Europe/Berlin' });
  const { opens_at: before, closes_at: end } = await find(id);
  await succeed(page, 'Move the opening', (dialog) => dialog.getByLabel('Opens (Europe/Berlin)').fill('2096-01-02T10:00'));
  const moved = await find(id);
  expect(Date.parse(moved.opens_at)).toBe(Date.parse('2096-01-02T09:00:00Z'));
  expect(Date.parse(moved.closes_at) - Date.parse(moved.opens_at)).toBe(Date.parse(end) - Date.parse(before));
  await act(page, 'Withdraw', (dialog) => dialog.getByLabel(/^To confirm/).fill('Moved'));
  await page.locator('.board .badge', { hasText: 'Withdrawn' }).waitFor();
  await page.getByRole('link', { name: 'Log' }).click();
  for (const action of ['Withdrawn', 'Edited', 'Published', 'Created']) await page.getByRole('cell', { name: action, exact: true }).waitFor();
  expect(await page.getByRole('row').nth(1).textContent()).toContain('Withdrawn');
  expect(await rules()).toEqual([]);

  const draft = await shop.sell({ title: 'Gone', published: false });
  await go(`sales/${draft}`);
  await act(page, 'Delete the draft');
  await page.waitForURL(/#\/\?state=draft$/);
  expect((await shop.ask('GET', `/v1/admin/sales/${draft}`, { token: await shop.login('operator', true) })).status).toBe(404);
});

onStandIn.test('a sale that fails to load appears once there is an answer, and an unknown one is reported', async () => {
  const id = await shop.sell({ title: 'Late' });
  const { page, go } = await desk();
  let isBack = false;
  await page.route(new RegExp(`/v1/admin/sales/${id}$`), (route) => (isBack ? route.continue() : route.abort()));
  await go(`sales/${id}`);
  await page.locator('.stale', { hasText: 'No connection' }).waitFor();
  isBack = true;
  await page.getByRole('heading', { level: 1, name: 'Late' }).waitFor();
  await expect.poll(() => page.locator('.stale').textContent()).toBe('');
  await page.locator('.tile.free').waitFor();
  await go('sales/nothing-here/log');
  await page.getByRole('heading', { level: 1, name: 'There is no such sale' }).waitFor();
});

onStandIn.test('a sale\'s orders are found within its page, at their own address', async () => {
  const id = await shop.sell();
  const { id: order } = await shop.buy(id);
  await shop.until(async () => (await ordersOf(id)).length === 1);
  const { page } = await operate(`sales/${id}/orders`);
  await page.locator('.results tbody tr').waitFor();
  await page.getByLabel('State').selectOption('cancelled');
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await page.getByRole('heading', { name: 'No orders' }).waitFor();
  expect(new URL(page.url()).hash).toBe(`#/sales/${id}/orders?state=cancelled`);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('.results').getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: `Order ${short(order)}` }).waitFor();
  await page.locator('.back').click();
  await page.locator('.results tbody tr').waitFor();
});

onStandIn.test('the report of a past round shows its outcome', async () => {
  const id = await shop.sell({ title: 'Reported', total: 6 });
  const bought = await shop.buyers(id, 6);
  // One buyer gives the unit back, and another gets it.
  await shop.untilAll(bought.slice(0, 1), 'pending_payment');
  await shop.giveBack(bought[0]);
  bought.push(await shop.until(() => shop.buy(id)));
  await shop.untilAll(bought.slice(1), 'pending_payment');
  for (const one of bought) await shop.pay(one);
  await shop.until(async () => (await ordersOf(id, '&state=paid')).length >= 5);
  await shop.update(id, 'close');
  const { page } = await operate(`sales/${id}/report`);
  await page.getByText('Final report.').waitFor({ timeout: 30_000 });
  for (const [name, shown] of [
    ['Sold', /6 of 6/], ['Revenue, paid', /^€1,134\.00$/], ['Refunds due', /^1 · €189\.00$/], ['Refunds made', /^0$/], ['Cancelled', /^1/], ['Paid', /^6/],
    ['Time to sell out', /minute|second|hour/],
  ]) expect(await figure(page, name)).toMatch(shown);
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('#header').isVisible()).toBe(false);
  await page.getByText('€1,134.00').waitFor();
});

test('the health page shows queues and audits open sales', async () => {
  await shop.sell({ title: 'Healthy lamp' });
  const { page } = await operate('health');
  await row(page, 'Healthy lamp').waitFor();
  await page.getByRole('button', { name: 'Audit them now' }).click();
  await row(page, 'Healthy lamp').first().getByText('Clean: every unit').waitFor();
  await page.getByRole('row').filter({ hasText: 'Orders' }).first().waitFor();
  const heads = page.getByRole('table', { name: 'Queues' }).getByRole('columnheader');
  expect((await heads.allTextContents()).at(-1)).toBe('Action');
  expect(await heads.locator('.unseen').count()).toBe(0);
  await page.getByRole('link', { name: 'Healthy lamp' }).first().click();
  await page.waitForURL(new RegExp(`#/sales/[\\w-]+/audit$`));
  await page.getByText('Where every unit of round 1 is').waitFor();
});

onStandIn.test('a busy sale is marked in the table and on its page while it is busy', async () => {
  const id = await shop.sell({ title: 'Wanted lamp' });
  const { page, go, rules } = await operate('health');
  let busy = { requests_per_s: 16_400, expected_requests_per_s: 3_000, since: new Date().toISOString(), as_of: new Date().toISOString() };
  await page.route(/\/v1\/admin\/sales(\?.*|\/[\w-]+)?$/, async (route) => {
    const response = await route.fetch({ maxRetries: 2 });
    const body = await response.json();
    for (const sale of body.sales ?? [body]) if (sale.sale_id === id) sale.busy = busy;
    await route.fulfill({ response, json: body });
  });
  await go('');
  await row(page, id).locator('.badge', { hasText: 'Busy: 16,400/s' }).waitFor();
  await shot(page, 'busy-table');
  await go(`sales/${id}`);
  await page.getByText('Far more requests than expected: 16,400 a second instead of 3,000. If other sales suffer, limit its load.').waitFor();
  expect(await rules()).toEqual([]);
  await shot(page, 'busy-sale');
  busy = undefined;
  await page.locator('.badges .busy').waitFor({ state: 'detached' });
  await page.getByText('Far more requests').waitFor({ state: 'detached' });
});

onStandIn.test('everything on a sale\'s page and in the editor is reachable by keyboard', async () => {
  const { page, go } = await operate(`sales/${await shop.sell({ title: 'Keyed', opensInMs: 7_200_000 })}`);
  await page.getByRole('button', { name: 'Withdraw' }).waitFor();
  const reached = async (steps) => {
    const names = new Set();
    for (let n = 0; n < steps; n += 1) {
      await page.keyboard.press('Tab');
      names.add(await page.evaluate(() => document.activeElement.name || document.activeElement.dataset.keep || document.activeElement.textContent.trim().slice(0, 40)));
    }
    return [...names];
  };
  expect(await reached(40)).toEqual(expect.arrayContaining(['kill', 'tab orders', 'tab settings', 'pause', 'restock', 'postpone', 'duplicate', 'close', 'stop', 'withdraw']));
  await go('new');
  await field(page, 'title').waitFor();
  expect(await reached(60)).toEqual(expect.arrayContaining(['title', 'sale_id', 'description', 'pictures', 'price', 'opens', 'zone', 'early', 'rain', 'violations', 'Create the draft', 'Discard']));
});

// On the real system screens take minutes each and look the same.
inEachWay('selling', 'every screen is accessible, does not shift, and fits', async ({ language, options, holds }) => {
  const words = operators[language];
  const title = language === 'zh' ? '搪瓷吊灯' : 'Enamel pendant lamp';
  const id = await shop.sell({ title });
  const draft = await shop.sell({ title, published: false, opensInMs: 7_200_000, description: 'Green enamel.', expected_audience: 20_000, list_price_minor: 24_900 });
  await shop.campaign([id, draft], title);
  await shop.operate('POST', '/v1/admin/blocked', { user: 'mallory', until: '2097-01-01T00:00:00Z' });
  await shop.buy(id);
  await shop.until(async () => (await ordersOf(id)).length === 1);
  const one = await operate('', options);
  const { page, go } = one;
  const screens = {
    home: ['', '.listing'], new: ['new', '.editor'], live: [`sales/${id}`, '.verdict'], draft: [`sales/${draft}`, '.board .actions button'],
    orders: [`sales/${id}/orders`, '.results tr'], audit: [`sales/${id}/audit`, '.verdict'], log: [`sales/${id}/log`, '.listing'],
    report: [`sales/${id}/report`, '.steps'], settings: [`sales/${draft}/settings`, '.editor'], campaigns: ['campaigns', '.listing'], users: ['users', '.listing'], health: ['health', '.listing'],
  };
  for (const [what, [hash, ready]] of Object.entries(screens)) {
    await go(hash);
    await page.locator(ready).first().waitFor();
    await holds(one, what);
  }
  await go(`sales/${draft}`);
  await page.locator('.board').getByRole('button', { name: words['op.publish'], exact: true }).click();
  await page.locator('.checklist').waitFor();
  await holds(one, 'checklist');
  await page.keyboard.press('Escape');
  await go('new');
  await page.getByRole('button', { name: words['op.create'], exact: true }).click();
  await page.locator('[aria-invalid]').first().waitFor();
  await holds(one, 'new-wrong');
  await go(`sales/${id}`);
  await page.locator('.verdict').waitFor();
  await shop.operate('POST', '/v1/admin/stop', {});
  try {
    await page.locator('.banner').waitFor();
    await page.getByText(words['op.stopped.all']).waitFor();
    await holds(one, 'stopped');
  } finally {
    await shop.operate('POST', '/v1/admin/start', {});
  }
});
