// A merchant's whole day on the operators' page, from the draft to the final report, while buyers use the API.

import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import * as desk from './desk.js';
import { shop, test } from './visits.js';

const PRICE_MINOR = 4_990;
const BUYERS = 14;

const fresh = `day-${process.pid}-${Date.now().toString(36)}`;
const TITLE = 'Lamp of the day';

test('a sale day: draft, edit, preview, publish, postpone, open, rush, pause, restock, resume, stop, start, refund, export, report, end of recurrence', async () => {
  const { page, go, rules } = await desk.operate('', { timezoneId: 'Europe/Berlin' });
  const dialog = page.getByRole('dialog');
  const write = (fields) => desk.write(page, fields);
  const local = (ms) => desk.local(page, ms);
  const doIt = (name, fill = async () => {}) => desk.succeed(page, name, async () => {
    expect(await dialog.locator('p').first().textContent()).toContain(TITLE);
    await fill();
  });
  const tile = (name) => desk.tile(page, name);
  const badge = (text) => page.locator('.board-head .badge', { hasText: text }).waitFor({ timeout: 90_000 });

  // The draft, previewed and edited. This process does all buyers' work, so the work is easy.
  await page.getByRole('link', { name: 'New sale' }).click();
  await write({
    title: TITLE, sale_id: fresh, price: '59.90', list_price: '79.90', total: '8', description: 'Green enamel.', pictures: '/art/lamp.svg', expected_audience: '500',
    opens: await local(7_200_000), closes: await local(10_800_000), again: 'yes', limit: '1', window: '15', work_bits: '12',
  });
  const preview = page.getByRole('complementary', { name: 'As the shop shows it' });
  for (const text of [TITLE, '€59.90', '€79.90', 'Green enamel.']) await preview.getByText(text).first().waitFor();
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.getByRole('heading', { level: 1, name: TITLE }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await write({ price: '49.90' });
  await preview.getByText('€49.90').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();

  // Published, postponed, and finally brought forward to now.
  await page.getByRole('link', { name: 'Live' }).click();
  await doIt('Publish', () => dialog.locator('.checklist').getByText('./flash plan --units 8 --audience 500').waitFor());
  await badge('Published');
  const head = () => page.locator('.board-head').textContent();
  const before = await head();
  await doIt('Move the opening', async () => dialog.locator('[name=opens]').fill(await local(9_000_000)));
  // Whoever acts on what the page showed before is refused.
  await expect.poll(head, { timeout: 90_000 }).not.toBe(before);
  expect(Date.parse((await shop.operate('GET', `/v1/admin/sales/${fresh}`)).opens_at)).toBeGreaterThan(Date.now() + 8_000_000);
  await doIt('Move the opening', async () => dialog.locator('[name=opens]').fill(await local(0)));
  await badge('Open');
  await expect.poll(() => tile('free').textContent(), { timeout: 90_000 }).toBe('8');

  // The rush: each unit is sold once, and the others hear so.
  const soldOut = (error) => {
    if (error.problem?.code !== 'sold_out') throw error;
    return 'sold_out';
  };
  const rush = await Promise.all(Array.from({ length: BUYERS }, () => shop.until(() => shop.buy(fresh).catch(soldOut))));
  const buyers = rush.filter((one) => one !== 'sold_out');
  expect([buyers.length, rush.length - buyers.length]).toEqual([8, BUYERS - 8]);
  await expect.poll(() => tile('free').textContent(), { timeout: 60_000 }).toBe('0');

  // Paused, restocked, resumed, stopped, and started.
  await doIt('Pause');
  await badge('Paused');
  await doIt('Add units', () => dialog.locator('[name=units]').fill('3'));
  await expect.poll(() => tile('total').textContent(), { timeout: 60_000 }).toBe('11');
  await expect(shop.buy(fresh)).rejects.toThrow();
  await doIt('Resume');
  await badge('Open');
  await page.locator('.plot canvas').waitFor();
  await doIt('Stop this sale', () => dialog.getByLabel(/^To confirm, type/).fill(TITLE));
  await badge('Stopped');
  await doIt('Start this sale');
  await badge('Open');
  for (let n = 0; n < 3; n += 1) buyers.push(await shop.until(() => shop.buy(fresh)));
  await shop.untilAll(buyers, 'pending_payment');

  // One buyer gives the unit back and pays nevertheless; the others pay.
  const [gave, ...others] = buyers;
  await shop.giveBack(gave);
  for (const one of others) await shop.pay(one, PRICE_MINOR);
  expect(await shop.pay(gave, PRICE_MINOR)).toBe('refund_due');
  await shop.untilAll(others, 'paid');
  const due = () => page.getByRole('row').filter({ has: page.getByRole('link', { name: `Order ${desk.short(gave.id)}` }) });
  await shop.until(async () => {
    await go('refunds');
    await page.reload();
    await page.locator('.results .listing, .empty').first().waitFor();
    return (await due().count()) === 1;
  });
  await due().getByRole('button').click();
  await dialog.getByRole('button', { name: 'Mark as refunded' }).click();
  await page.getByText('marked as refunded.').waitFor();

  // The export contains every order.
  await go(`sales/${fresh}/orders`);
  await page.locator('.results tbody tr').nth(10).or(page.getByText('There are more.')).first().waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  const lines = (await readFile(await (await saved).path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines.slice(1).map((line) => line.split(',')[0]).sort()).toEqual(buyers.map(({ id }) => id).sort());

  // The last round is over, and the sale does not recur.
  await go(`sales/${fresh}`);
  await doIt('End the repetition', async () => expect(await dialog.locator('p').first().textContent()).toContain('round 1'));
  await page.getByRole('button', { name: 'End the repetition' }).waitFor({ state: 'detached' });
  await doIt('Close', () => dialog.getByLabel(/^To confirm/).fill(fresh));
  await badge('Ended');
  await page.getByRole('link', { name: 'Report' }).click();
  await page.getByText('Final report.').waitFor();
  for (const [name, shown] of [
    ['Sold', /10 of 11/], ['Revenue, paid', /^€499\.00$/], ['Refunds due', /^0$/], ['Refunds made', /^1 · €49\.90$/], ['Cancelled', /^1/],
  ]) expect(await desk.figure(page, name)).toMatch(shown);
  expect(await rules()).toEqual([]);
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByText('Clean: every unit is in exactly one place.').waitFor();
  await page.getByRole('link', { name: 'Log' }).click();
  for (const action of ['Repetition ended', 'Closed', 'Resumed', 'Units added', 'Paused', 'Published', 'Created']) await page.getByRole('cell', { name: action, exact: true }).first().waitFor();
  expect((await shop.operate('GET', `/v1/admin/sales/${fresh}`)).recurrence).toBe(undefined);
}, 600_000);
