// The waiting page on a system: from the ticket to the reservation or the end of the line, and the operators' actions.

import { expect } from 'vitest';
import { readTicket } from '../../clients/typescript/src/place.js';
import { GOOD_SHIFT } from './browser.js';
import { act as press, field, operate, write } from './desk.js';
import { LINE, LONG_MS, MINUTE_MS, chance, coming, hide, kept, lineOf, open, row, traveller } from './in-line.js';
import { arrive, heading, onBoth, requests, selling, shop, shot, test, visit, work } from './visits.js';

const CROWD = 24;
/** Redis's estimate of all of them and the user: in one run of fifty, two of these look like one. */
const PEOPLE = `(?:${CROWD}|${CROWD + 1})`;
const UNITS = 4;

/** An action on the line, which shows that it is done by what it shows of the line. */
async function act(page, name, fill) {
  await press(page, name, fill);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

test('before the opening the page gets a ticket at a random time, once, and keeps it', async () => {
  const sale = await shop.sell({ opensInMs: LONG_MS, line: LINE });
  // The sale's own card and its card in lists both say when tickets are available.
  const cards = [(await shop.ask('GET', `/v1/sales/${sale}`)).body, (await shop.ask('GET', '/v1/sales')).body.sales.find((one) => one.sale_id === sale)];
  for (const { opens_at: opens, line } of cards) expect(Date.parse(opens) - Date.parse(line.tickets_from)).toBe(LINE.opens_early_s * 1_000);
  const { page, context, go, rules } = await visit();
  await chance(context, 0.5);
  const travel = await traveller(page);
  const asked = requests(page, /\/tickets$/);
  await go(`sales/${sale}`);
  await page.getByText('You will get your ticket by').waitFor();
  await page.getByText('Coming earlier gives no advantage').waitFor();
  expect(await rules()).toEqual([]);
  await travel(18 * MINUTE_MS);
  await page.getByText('You will get your ticket by').waitFor();
  expect(asked.length).toBe(0);
  await travel(3 * MINUTE_MS);
  await heading(page, 'You are in line').waitFor();
  // The user counts, even if the document is a little older.
  await page.getByText('In line so far: about 1.').waitFor({ timeout: 20_000 });
  expect(await rules()).toEqual([]);
  await page.reload();
  await heading(page, 'You are in line').waitFor();
  expect(asked.length).toBe(1);
});

test('a user who goes to another screen of the shop before that gets the ticket right then', async () => {
  const { page, sale } = await coming(0.9);
  await page.getByRole('link', { name: 'All sales' }).first().click();
  await expect.poll(async () => (await lineOf(sale)).people.estimate).toBe(1);
});

/** Gets API users in line. */
async function queueUp(sale, count) {
  return Promise.all(Array.from({ length: count }, async () => {
    const user = shop.user();
    const { status, body } = await shop.ask('POST', `/v1/sales/${sale}/tickets`, { token: await shop.login(user) });
    expect([status, body.class]).toEqual([201, 'early']);
    return { user, ticket: body.ticket };
  }));
}

/** Buys once the line has reached the user; null if everything is sold. */
async function buyInTurn(sale, { user, ticket }) {
  const bought = await shop.until(async () => {
    const { watermark } = await lineOf(sale);
    return shop.buy(sale, user, { 'x-line-ticket': ticket, 'x-line-watermark': watermark }).catch((error) => {
      if (error.problem?.code === 'sold_out') return { gone: true };
      throw error;
    });
  });
  return bought.gone ? null : bought;
}

onBoth.test('a whole line: the ticket, the opening, the proof, the turn, a purchase, sold out, and a returned unit', async () => {
  const user = shop.user();
  const { page, context, rules, shift, sale, enter } = await selling({ opensInMs: LONG_MS, total: UNITS, line: { ...LINE, paused: true } }, { user });
  await chance(context, 0.9);
  const asked = requests(page, /\/challenges$/);
  await enter();
  await page.getByText('You will get your ticket by').waitFor();
  await page.getByText('The order is already fixed, and nobody can see it').waitFor();
  // A tab that is hidden gets it at once, and sleeps while the sale opens.
  await hide(page, true);
  await heading(page, 'You are in line').waitFor();
  const others = await queueUp(sale, CROWD);
  await open(sale);
  await hide(page, false);
  await heading(page, 'The line is paused').waitFor();
  expect(readTicket((await kept(page)).ticket)).toMatchObject({ user, second: null });
  expect(await row(page, 'Your place').textContent()).toMatch(new RegExp(`^\\d+(?: to \\d+)? of about ${PEOPLE}$`));
  expect(await row(page, 'Waiting time').textContent()).toBe('unknown while the line stands still');
  expect(await row(page, 'Left').textContent()).toBe(`${UNITS} of ${UNITS}`);
  await page.getByText('Checked: the order was fixed before the opening').click();
  await page.getByText('Your browser wrote down the fingerprint before the opening').waitFor();
  await shot(page, 'waiting-paused');
  expect(await rules()).toEqual([]);
  expect(asked.length).toBe(0);
  await context.setOffline(true);
  await page.getByText('We cannot reach the shop at the moment. Your place is kept').waitFor();
  await context.setOffline(false);
  await page.getByText('We cannot reach the shop').waitFor({ state: 'detached' });

  // A user who has lost the ticket keeps its place. A user who arrives now comes after everyone else.
  const lost = await arrive(`sales/${sale}`, { user: others[0].user });
  await heading(lost.page, 'The line is paused').waitFor();
  expect((await kept(lost.page)).ticket).toBe(others[0].ticket);
  const late = await arrive(`sales/${sale}`);
  await heading(late.page, 'The line is paused').waitFor();
  await expect.poll(() => row(late.page, 'In line').textContent()).toMatch(new RegExp(`^about ${PEOPLE}, and 1 who came after the opening$`));

  // Operators watch the line, and start it.
  const operator = await operate(`sales/${sale}`);
  const board = operator.page.locator('.board');
  await board.getByText('The line is held up.').waitFor();
  expect(await operator.rules()).toEqual([]);
  await act(operator.page, 'Change the line’s speed', (dialog) => dialog.locator('[name=rate]').fill('5'));
  await board.getByText('5 people a second').waitFor();
  await act(operator.page, 'Resume the line');
  await board.getByText('The line moves.').waitFor();
  await page.getByLabel('Your answer').waitFor();
  const { 'x-line-ticket': ticket, 'x-line-watermark': watermark } = asked[0].headers();
  expect(readTicket(ticket)).toMatchObject({ user, second: null });
  expect(watermark.length).toBeGreaterThan(100);
  await work(page);
  await page.waitForURL(/#\/reservations\//);
  await heading(page, 'Reserved for you').waitFor();
  expect(await shift()).toBeLessThan(GOOD_SHIFT);
  // Back at the sale, the question does not come again without a click.
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await page.getByText('You have a reservation for this.').waitFor();
  expect(asked.length).toBe(2);

  // Everyone else is quicker than the user at the question.
  await late.page.getByLabel('Your answer').waitFor();
  const bought = [];
  for (const one of others) if (bought.length < UNITS - 1) bought.push(await buyInTurn(sale, one));
  expect(bought).not.toContain(null);
  await board.getByText('Nothing is free.').waitFor();
  await shot(operator.page, 'waiting-operators');
  await work(late.page);
  await heading(late.page, 'Sold out').waitFor();
  await late.page.getByText('It was your turn, but others were quicker.').waitFor();
  await late.page.getByText(new RegExp(`You came after the opening, behind about ${PEOPLE} people; ${UNITS} pieces were sold\\.`)).waitFor();
  await late.page.getByText(`Up to ${UNITS} of them may still come back`).waitFor();
  await shot(late.page, 'waiting-sold-out');
  expect(await late.rules()).toEqual([]);

  // One unit is returned, and the line moves on. The user whose turn it was sees that, and gets the unit.
  expect((await shop.giveBack(bought[0])).status).toBeLessThan(300);
  await heading(late.page, 'It is your turn').waitFor();
  await late.page.getByRole('button', { name: 'Buy now' }).click();
  // The earlier pass may still be valid.
  const [question, reserved] = [late.page.getByLabel('Your answer'), heading(late.page, 'Reserved for you')];
  await question.or(reserved).waitFor();
  if (await question.isVisible()) await work(late.page);
  await reserved.waitFor();
  await act(operator.page, 'Pause the line');
  await board.getByText('held up', { exact: true }).waitFor();
}, 400_000);

test('a line and lanes are created in the editor, and fixed there after publication', async () => {
  const { page, go, rules } = await operate('new');
  const id = `op-line-${Date.now().toString(36)}`;
  await write(page, { line: 'yes', title: 'Lined lamp', sale_id: id, price: '5', opens_early: '30', admits: '200', lanes: '20' });
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.locator('#form-lanes-error').getByText('A whole number').waitFor();
  await write(page, { lanes: '4' });
  expect(await rules()).toEqual([]);
  await shot(page, 'waiting-editor');
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.getByText('This is a draft').waitFor();
  expect(await shop.operate('GET', `/v1/admin/sales/${id}`)).toMatchObject({ line: { opens_early_s: 1_800, admits_per_s: 200 }, lanes: 4 });
  await shop.operate('POST', `/v1/admin/sales/${id}/publish`, {});
  await go(`sales/${id}/settings`);
  await page.reload();
  await field(page, 'admits').waitFor();
  for (const name of ['line', 'opens_early', 'lanes']) expect(await field(page, name).isDisabled()).toBe(true);
  await write(page, { admits: '90' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect((await shop.operate('GET', `/v1/admin/sales/${id}`)).line).toEqual({ opens_early_s: 1_800, admits_per_s: 90 });
});
