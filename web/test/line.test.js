// The waiting page on the stand-in, mostly with simulated documents. waiting.test.js tests it on a system.

import { expect, test } from 'vitest';
import { commitmentOf, readTicket } from '../../clients/typescript/src/place.js';
import { lineWords } from '../words/line.js';
import { shopWords } from '../words/shop.js';
import { cardSays, problem } from './answers.js';
import { SHOTS, WAYS } from './browser.js';
import { LINE, LONG_MS, MINUTE_MS, chance, coming, crowd, edit, hide, keep, kept, open, row, ticketOf, traveller } from './in-line.js';
import { announced, atSale, heading, listen, looksRight, passing, requests, selling, shop } from './visits.js';

const refusal = (...of) => (route) => route.fulfill(problem(...of));

const shown = (page) => row(page, 'Before you').textContent();

test('a user in a crowd sees their place, through sleep and network failures, until the end', async () => {
  const { page, enter, shows, net, looks, rules, virtual } = await crowd({ clock: true });
  const card = {};
  await cardSays(page, card);
  await enter();
  expect(await shown(page)).toMatch(/^3[67],\d00 to 3[89],\d00 people$/);
  expect(await row(page, 'Waiting time').textContent()).toBe('1 to 2 minutes');
  expect(await row(page, 'Your place').textContent()).toMatch(/^4[67],\d00 to [45][890],\d00 of about 1,000,000$/);
  expect(await row(page, 'Left').textContent()).toBe('10,000 of 10,000');
  await page.getByText('this page updates by itself').first().waitFor();

  net.down = true;
  await page.getByText('We cannot reach the shop at the moment. Your place is kept').waitFor();
  shows('moving', 40_000_000, { units: { total: 10_000, sold: 9_000, may_return: 9_000 } });
  net.down = false;
  await virtual.skip(20_000);
  await expect.poll(() => shown(page)).toMatch(/^7,[3-9]\d0 to 8,[0-6]\d0 people$/);
  expect(await row(page, 'Left').textContent()).toBe('1,000 of 10,000');
  await page.getByText('We cannot reach the shop').waitFor({ state: 'detached' });

  shows('sold_out', 40_000_000, { units: { total: 10_000, sold: 10_000, may_return: 10_000 } });
  await heading(page, 'Sold out').waitFor();
  await page.getByText('You were about 48,000th of 1,000,000; 10,000 pieces were sold.').waitFor();
  await page.getByText('Up to 10,000 of them may still come back').waitFor();
  expect(await page.getByText('you need not wait').count()).toBe(0);
  expect(await rules()).toEqual([]);
  shows('sold_out', 40_000_000, { units: { total: 10_000, sold: 10_000, may_return: 3 } });
  await page.getByText('That is too few for the line to reach you, so you need not wait.').waitFor();
  // A unit was returned, and the line moves on.
  shows('moving', 47_500_000, { units: { total: 10_000, sold: 9_999, may_return: 2 } });
  await heading(page, 'You are in line').waitFor();
  card.availability = 'sold_out';
  shows('sold_out', 47_500_000, { units: { total: 10_000, sold: 10_000, may_return: 0 }, poll_after_ms: 600_000 });
  await page.getByText('None of them comes back, so the line ends here.').waitFor();
  // Pages stop polling once it is over.
  shows('ended', 47_500_000, { poll_after_ms: 0 });
  await virtual.skip(900_000);
  await heading(page, 'The sale is over').waitFor();
  await page.getByText('You were about 48,000th of 1,000,000; 10,000 pieces were sold.').waitFor();
  const last = looks();
  await hide(page, true);
  await hide(page, false);
  await virtual.skip(60_000);
  await heading(page, 'The sale is over').waitFor();
  expect(looks()).toBe(last);
});

test('a hidden tab polls seldom, shows the user\'s turn in its title, and goes on when it is visible', async () => {
  const { page, enter, shows, looks, virtual } = await crowd({ clock: true });
  const asked = requests(page, /\/challenges$/);
  await enter();
  // From here on, only the test moves time.
  await virtual.stop();
  await hide(page, true);
  // Pending requests have finished, and the next poll is far off.
  const looksIn = async (ms) => {
    await virtual.answered();
    const before = looks();
    await virtual.run(ms);
    await virtual.answered();
    return looks() - before;
  };
  await looksIn(1_000);
  await expect.poll(() => looksIn(500)).toBe(0);
  shows('moving', 48_900_000);
  expect(await looksIn(8_000)).toBe(0);
  await virtual.run(6_000);
  await page.waitForFunction(() => document.title.startsWith('It is your turn'), null, { polling: 100 });
  expect(asked.length).toBe(0);
  await hide(page, false);
  await expect.poll(() => asked.length).toBe(1);
});

test('a machine that slept with its page visible polls as soon as it wakes', async () => {
  const { page, enter, shows, looks, virtual } = await crowd({ clock: true });
  shows('moving', 10_000_000, { poll_after_ms: 200_000 });
  await enter();
  // The ticket caused another look.
  await virtual.answered();
  const seen = looks();
  shows('moving', 47_400_000);
  await virtual.skip(MINUTE_MS);
  await expect.poll(() => row(page, 'Waiting time').textContent()).toBe('less than a minute');
  expect(looks()).toBe(seen + 1);
});

test('an order that is replaced while people wait is reported', async () => {
  const { page, go, shows, sale } = await crowd();
  await go(`sales/${sale}`);
  await page.getByText('Checked: the order follows from what was published').waitFor();
  const seed = '5a'.repeat(32);
  shows('moving', 10_000_000, { seed, commitment: commitmentOf(sale, 1, seed) });
  await page.getByText('The order does not match what was published').waitFor();
  // A reload does not forget it.
  await page.reload();
  await page.getByText('The order does not match what was published').waitFor();
});

test('incomplete documents show a problem, and the last state stays', async () => {
  const { page, go, net, looks, sale, virtual } = await crowd({ clock: true });
  const without = (name, of = (line) => line) => (line) => {
    delete of(line)[name];
    return line;
  };
  const broken = [
    () => ({}), () => null, () => [], without('admitted'), without('units'), without('people'), without('state'), without('poll_after_ms'), without('commitment'),
    without('early_ppb', ({ admitted }) => admitted), without('late', ({ admitted }) => admitted), without('as_of', ({ admitted }) => admitted), without('total', ({ units }) => units),
    without('estimate', ({ people }) => people), (line) => ({ ...line, seed: 'zz' }), (line) => ({ ...line, poll_after_ms: -1 }),
    (line) => ({ ...line, admitted: { ...line.admitted, early_ppb: 1.5 } }), (line) => ({ ...line, people: { ...line.people, estimate: '9' } }),
    (line) => ({ ...line, admitted: { ...line.admitted, late_until: 'soon' } }),
  ];
  let at = 0;
  // Even the very first document is incomplete.
  net.answers = (route, line) => route.fulfill({ json: broken[at % broken.length](line) });
  await go(`sales/${sale}`);
  await page.locator('.stage .hint').waitFor();
  net.answers = null;
  await virtual.skip(20_000);
  await expect.poll(() => row(page, 'Before you').count()).toBe(1);
  const known = await shown(page);
  for (at = 0; at < broken.length; at += 1) {
    const before = looks();
    net.answers = (route, line) => route.fulfill({ json: broken[at](line) });
    await passing(() => virtual.skip(20_000), looks).toBeGreaterThan(before + 1);
    expect([at, await shown(page)]).toEqual([at, known]);
    expect([at, await page.locator('.stage .hint').count()]).toEqual([at, 1]);
  }
  net.answers = null;
  await virtual.skip(20_000);
  await page.locator('.stage .hint').waitFor({ state: 'detached' });
});

test('a line never moves back, whichever document comes last', async () => {
  const { page, enter, shows, net, looks } = await crowd();
  shows('moving', 40_000_000);
  await enter();
  const known = await shown(page);
  const twice = async () => {
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before + 1);
  };
  // One process does not know the latest watermark, one does not know that the line is open, and one answers late.
  shows('moving', 20_000_000);
  await twice();
  expect(await shown(page)).toBe(known);
  net.answers = (route, line) => route.fulfill({ json: { ...line, state: 'before', seed: null, watermark: null, admitted: { ...line.admitted, early_ppb: 0 } } });
  await twice();
  await heading(page, 'You are in line').waitFor();
  expect(await shown(page)).toBe(known);
  net.answers = null;
  net.lateMs = 30_000;
  shows('sold_out', 10_000_000);
  await twice();
  await heading(page, 'You are in line').waitFor();
  expect(await shown(page)).toBe(known);
});

test('a document that has not changed for long means that the shop is unreachable', async () => {
  const { page, go, net, sale } = await crowd();
  net.lateMs = 200_000;
  await go(`sales/${sale}`);
  await page.getByText('We cannot reach the shop at the moment').waitFor();
  expect(await shown(page)).toMatch(/people$/);
  // A cache may lag by half a minute.
  net.lateMs = 30_000;
  await page.getByText('We cannot reach the shop at the moment').waitFor({ state: 'detached' });
});

test('a poll that gets 429 or 503 is retried after Retry-After, and within minutes', async () => {
  const { page, enter, net, looks, lookedAt, virtual } = await crowd({ clock: true });
  await enter();
  net.answers = refusal(429, 'rate_limited', {}, { 'retry-after': '30' });
  await page.locator('.stage .hint').waitFor();
  await virtual.stop();
  /** The pause after the next poll but one, since the next may be under way. A step is too short to look like sleep. */
  const pause = async (stepMs) => {
    const before = looks();
    const step = () => virtual.run(stepMs).then(virtual.answered);
    for (const more of [2, 3]) await passing(step, looks, 5).toBeGreaterThanOrEqual(before + more);
    return lookedAt.at(-1) - lookedAt.at(-2);
  };
  const thirty = await pause(4_000);
  expect(thirty).toBeGreaterThan(20_000);
  expect(thirty).toBeLessThan(MINUTE_MS);
  // A line cannot wait for a day.
  net.answers = refusal(503, 'overloaded', {}, { 'retry-after': '86400' });
  const most = await pause(8_000);
  expect(most).toBeGreaterThan(4 * MINUTE_MS);
  expect(most).toBeLessThan(8 * MINUTE_MS);
  net.answers = null;
  await passing(() => virtual.run(15_000), () => page.locator('.stage .hint').count()).toBe(0);
});

test.each([['behind', -5 * MINUTE_MS], ['ahead', 5 * MINUTE_MS]])('a clock five minutes %s changes nothing', async (_, offsetMs) => {
  const { page, sale } = await coming(0.5, { line: { ...LINE, paused: true } }, { user: shop.user(), offsetMs });
  // Half of the remaining time without its margin; the test may lag by a minute.
  const { askAt } = await kept(page);
  expect(Math.abs(askAt - Date.now() - 19.5 * MINUTE_MS)).toBeLessThan(2 * MINUTE_MS);
  await hide(page, true);
  await heading(page, 'You are in line').waitFor();
  expect(Number(await page.locator('.countdown > :nth-child(3) .value').textContent())).toBeGreaterThan(35);
  await open(sale);
  await hide(page, false);
  await heading(page, 'The line is paused').waitFor();
  await page.getByText('Checked: the order was fixed before the opening').waitFor();
  expect(await page.locator('.stage .hint').count()).toBe(0);
});

test('two tabs share a ticket, and neither overwrites the other\'s state', async () => {
  const { page, enter, context, shows } = await crowd();
  // Tabs do not learn of each other's changes at once.
  await context.addInitScript(() => window.addEventListener('storage', (event) => event.stopImmediatePropagation(), true));
  await enter();
  const { ticket } = await kept(page);
  await keep(page, { went: true });
  const asked = requests(page, /\/challenges$/);
  shows('moving', 48_900_000);
  await heading(page, 'It is your turn').waitFor();
  expect(await kept(page)).toMatchObject({ ticket, went: true });
  expect(asked.length).toBe(0);
});

test('a second tab requests no ticket, and gets it when the first does', async () => {
  const { page, context } = await coming(0.9);
  const other = await context.newPage();
  const asked = requests(other, /\/tickets$/);
  await other.goto(page.url());
  await other.getByText('You will get your ticket by').waitFor();
  await hide(page, true);
  await heading(other, 'You are in line').waitFor();
  expect(asked.length).toBe(0);
  // A user who clears the browser's storage is still in line, and gets the same ticket again.
  const { ticket } = await kept(page);
  await other.evaluate(() => localStorage.clear());
  await heading(page, 'You are in line').waitFor();
  await page.reload();
  await page.getByText('You will get your ticket by').waitFor();
  await hide(page, true);
  await expect.poll(async () => (await kept(page))?.ticket).toBe(ticket);
});

test('a browser without storage can wait as well', async () => {
  const { page, enter, context, complaints } = await crowd();
  await context.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
  });
  await enter();
  await page.getByText('Before you').waitFor();
  expect(complaints).toEqual([]);
});

test('a stored ticket that is not the user’s, or is unreadable, is requested again', async () => {
  const { page, enter, user } = await crowd();
  const asked = requests(page, /\/tickets$/);
  await enter();
  for (const [n, ticket] of [ticketOf('mallory'), 'AQ', 17].entries()) {
    await keep(page, { ticket });
    await page.reload();
    await heading(page, 'You are in line').waitFor();
    await expect.poll(async () => readTicket((await kept(page)).ticket)?.user).toBe(user);
    expect(asked.length).toBe(n + 2);
  }
});

test('a user who signs out is asked to join again, and another user gets their own place', async () => {
  const { page, rules } = await atSale({ line: { ...LINE, paused: true } });
  await heading(page, 'The line is paused').waitFor();
  const mine = (await kept(page)).ticket;
  await page.getByRole('button', { name: /^Sign out/ }).click();
  await page.getByRole('button', { name: 'Get in line' }).click();
  const user = shop.user();
  await page.getByRole('dialog').getByLabel('Name').fill(user);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await heading(page, 'The line is paused').waitFor();
  const all = await page.evaluate(() => Object.entries(localStorage).filter(([name]) => name.startsWith('line:')).map(([, text]) => JSON.parse(text).ticket));
  expect(all).toContain(mine);
  expect(all.map((ticket) => readTicket(ticket).user)).toContain(user);
  // This page was not open before the opening, and says so.
  await page.getByText('Checked: the order follows from what was published').click();
  await page.getByText('You did not have this page open before the opening').waitFor();
  expect(await rules()).toEqual([]);
});

test('after an expired session the user signs in again, and gets the ticket', async () => {
  const { page, enter } = await selling({ line: { ...LINE, paused: true } });
  await page.route(/\/tickets$/, refusal(401, 'unauthorized'), { times: 1 });
  await enter();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Get in line' }).click();
  await heading(page, 'The line is paused').waitFor();
});

test('a ticket is requested until there is one, at a reasonable pace', async () => {
  const { page, go, sale, virtual } = await crowd({ clock: true });
  const wrong = [
    // A process that does not know the sale, one that gives no time, one that is overloaded, and a proxy.
    refusal(404, 'unknown_sale'), refusal(409, 'not_open'), refusal(429, 'rate_limited', {}, { 'retry-after': '1' }),
    (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<html>' }),
  ];
  const net = { answer: wrong[0] };
  await page.route(/\/tickets$/, (route) => (net.answer ? net.answer(route) : route.fallback()));
  const asked = requests(page, /\/tickets$/);
  await go(`sales/${sale}`);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await virtual.stop();
  for (net.answer of wrong) {
    const before = asked.length;
    await passing(() => virtual.run(2_000), () => asked.length, 5).toBeGreaterThan(before + 1);
    for (let step = 0; step < 10; step += 1) await virtual.run(100);
    expect(asked.length).toBeLessThan(before + 6);
  }
  await heading(page, 'Getting in line').waitFor();
  net.answer = null;
  await passing(() => virtual.run(5_000), () => heading(page, 'You are in line').count()).toBe(1);
});

test('a refused user is told so, and may try again', async () => {
  const { page, go, sale, rules } = await crowd();
  await page.route(/\/tickets$/, refusal(403, 'blocked'), { times: 1 });
  await go(`sales/${sale}`);
  await page.locator('.stage.blocked').waitFor();
  expect(await rules()).toEqual([]);
  await page.getByRole('button', { name: 'Try again' }).click();
  await heading(page, 'You are in line').waitFor();
});

test('a user who is turned away at the gate waits again, and tries only a few times', async () => {
  const { page, go, shows, sale, complaints } = await crowd();
  // The page believes that it is the user's turn, but the gate does not.
  shows('moving', 1_000_000_000);
  await page.route(/\/challenges$/, refusal(409, 'not_your_turn', { line_path: `/v1/sales/${sale}/line` }, { 'retry-after': '1' }));
  const asked = requests(page, /\/challenges$/);
  await go(`sales/${sale}`);
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
  await heading(page, 'It is your turn').waitFor();
  expect(asked.length).toBe(3);
  expect(complaints).toEqual([]);
});

test('units added after the end are shown, although the page is told to poll again only in a minute', async () => {
  const { page, go, shows, sale, virtual } = await crowd({ clock: true });
  shows('sold_out', 10_000_000, { units: { total: 10_000, sold: 10_000, may_return: 0 }, poll_after_ms: 60_000 });
  const card = { availability: 'sold_out' };
  await cardSays(page, card);
  await go(`sales/${sale}`);
  await page.getByText('None of them comes back').waitFor();
  card.availability = 'available';
  shows('moving', 10_000_000, { units: { total: 10_100, sold: 10_000, may_return: 0 }, poll_after_ms: 300 });
  await virtual.skip(80_000);
  await heading(page, 'You are in line').waitFor();
});

test('a visitor after the end is not asked to get in line, and sees whether more units come', async () => {
  const { page, go, shows, sale } = await crowd({ user: null });
  shows('sold_out', 10_000_000, { units: { total: 10_000, sold: 10_000, may_return: 0 }, poll_after_ms: 60_000 });
  await go(`sales/${sale}`);
  await heading(page, 'Sold out').waitFor();
  await page.getByText('10,000 pieces were sold, and about 1,000,000 people were in line.').waitFor();
  const other = await crowd();
  // More drops will come, so it has not ended.
  other.shows('sold_out', 10_000_000, { units: { total: 10_000, sold: 900, may_return: 0 } });
  await other.go(`sales/${other.sale}`);
  await other.page.getByText('More pieces come later.').waitFor();
  expect(await other.page.getByText('None of them comes back').count()).toBe(0);
});

test('a user with a ticket stays in line if the opening is postponed', async () => {
  const { page, sale } = await coming(0.9, { line: { ...LINE, paused: true } });
  await hide(page, true);
  await heading(page, 'You are in line').waitFor();
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  await edit(sale, { opens_at: at(5 * LONG_MS), closes_at: at(6 * LONG_MS) });
  await hide(page, false);
  await page.locator('.countdown > :first-child + :not([hidden])').waitFor();
  await heading(page, 'You are in line').waitFor();
  // The page shows the new opening time everywhere.
  const opens = await page.evaluate((ms) => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' }).format(ms), Date.parse((await shop.ask('GET', `/v1/sales/${sale}`)).body.opens_at));
  await page.locator('.facts').getByText(opens, { exact: true }).waitFor();
});

test('a late arrival is early if the opening is postponed then, although a process that has not heard of it gives late tickets', async () => {
  const { page, go, line, shows, net, sale, user, virtual } = await crowd({ clock: true });
  Object.assign(line, { seed: null, watermark: null });
  shows('before', 0);
  let given = ticketOf(user, Math.floor(Date.now() / 1000) - 30);
  await page.route(/\/tickets$/, (route) => route.fulfill({ status: 201, json: { ticket: given } }));
  const asked = requests(page, /\/tickets$/);
  const card = {};
  await cardSays(page, card);
  await go(`sales/${sale}`);
  await page.getByText('Your place follows in a few seconds.').waitFor();
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  Object.assign(card, { state: 'upcoming', opens_at: at(LONG_MS), closes_at: at(2 * LONG_MS), line: { tickets_from: at(-LONG_MS) } });
  // The page hears of it when it is looked at again.
  await hide(page, true);
  await hide(page, false);
  await page.locator('.countdown').waitFor();
  await hide(page, true);
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  await virtual.stop();
  const before = asked.length;
  const from = net.aheadMs;
  await passing(() => virtual.run(2_000), () => asked.length, 5).toBeGreaterThan(before + 2);
  // Two pauses of 15 s: the opening is far off.
  expect(net.aheadMs - from).toBeGreaterThan(26_000);
  given = ticketOf(user);
  await passing(() => virtual.run(2_000), () => heading(page, 'You are in line').count(), 5).toBe(1);
  expect(readTicket((await kept(page)).ticket).second).toBe(null);
});

test('a page that is left before tickets are available gets one soon afterwards', async () => {
  const { page, context, enter } = await selling({ opensInMs: LONG_MS, line: { ...LINE, opens_early_s: 1_200 } });
  // Asks in the middle of its minute.
  await chance(context, 0.5);
  const travel = await traveller(page);
  await enter();
  await page.getByText('You can get in from').waitFor();
  await page.route(/\/tickets$/, (route) => route.fulfill({ status: 201, json: { ticket: ticketOf('mallory') } }));
  const asked = requests(page, /\/tickets$/);
  await hide(page, true);
  await travel(21 * MINUTE_MS);
  await page.getByText('You will get your ticket by').waitFor();
  await travel(2 * MINUTE_MS);
  await expect.poll(() => asked.length).toBe(1);
});

test('a moving line announces little, and keeps open what its reader has opened', async () => {
  const { page, enter, shows, looks } = await crowd();
  await enter();
  await listen(page);
  const summary = page.locator('.proof summary');
  await summary.focus();
  await page.keyboard.press('Enter');
  await page.locator('.proof[open]').waitFor();
  // From more than a minute to less than half a minute.
  for (let step = 0; step < 8; step += 1) {
    const before = looks();
    shows('moving', 10_000_000 + step * 4_000_000);
    await expect.poll(looks, { interval: 20 }).toBeGreaterThan(before);
  }
  expect((await announced(page)).length).toBeLessThanOrEqual(3);
  shows('paused', 40_000_000);
  await heading(page, 'The line is paused').waitFor();
  await page.locator('.proof[open]').waitFor();
  expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true);
  shows('moving', 40_000_000);
  await heading(page, 'You are in line').waitFor();
  await page.locator('.proof[open]').waitFor();
  expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('a sale without a line loads and requests nothing for lines', async () => {
  const { page, enter } = await selling();
  const ofLines = requests(page, /\/(line|tickets)$|\/assets\/(waiting|hash)-/);
  await enter();
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByLabel('Your answer').waitFor();
  expect(ofLines.map((request) => request.url())).toEqual([]);
});

/** The screens of a line: `[name, how to get there, the heading]`. */
const SCREENS = [
  ['announced', { always: true, opensInMs: 3 * LONG_MS }, 'countdown.title'],
  ['coming', { opensInMs: LONG_MS, chance: 0.5 }, 'countdown.title'],
  ['early', { opensInMs: LONG_MS, chance: 0 }, 'line.early.title'],
  ['sign-in', { always: true, opensInMs: LONG_MS, user: null }, 'line.join'],
  ['sign-in-late', { always: true, user: null, is: ['moving', 10_000_000] }, 'line.join'],
  ['joining', { refused: refusal(503, 'overloaded') }, 'line.joining.title'],
  ['drawing', { is: ['before', 0, { seed: null, watermark: null }] }, 'line.drawing.title'],
  ['waiting', { is: ['moving', 10_000_000] }, 'line.waiting.title'],
  ['waiting-hours', { is: ['moving', 10_000_000, { per_s: 2 }] }, 'line.waiting.title'],
  ['waiting-late', { always: true, late: true, is: ['moving', 10_000_000, { people: { estimate: 1_000_000, error_percent: 2, late: 2_100 } }] }, 'line.waiting.title'],
  ['paused', { always: true, is: ['paused', 10_000_000, { per_s: 0 }] }, 'line.paused.title'],
  ['turn', { always: true, is: ['paused', 1_000_000_000, { per_s: 0 }], proof: 'line.proof.holds' }, 'line.turn.title'],
  ['sold-out', { is: ['sold_out', 10_000_000, { units: { total: 10_000, sold: 10_000, may_return: 400 } }] }, 'problem.sold_out.title'],
  ['sold-out-far', { always: true, is: ['sold_out', 10_000_000, { units: { total: 10_000, sold: 10_000, may_return: 3 } }] }, 'problem.sold_out.title'],
  ['sold-out-end', { is: ['sold_out', 10_000_000, { units: { total: 10_000, sold: 10_000, may_return: 0 }, poll_after_ms: 60_000 }] }, 'problem.sold_out.title'],
  ['sold-out-more', { is: ['sold_out', 10_000_000, { units: { total: 10_000, sold: 900, may_return: 0 } }] }, 'problem.sold_out.title'],
  ['ended', { always: true, is: ['ended', 10_000_000, { poll_after_ms: 0 }] }, 'problem.closed.title'],
  ['refused', { refused: refusal(403, 'blocked') }, 'problem.blocked.title'],
  ['unreachable', { always: true, is: ['moving', 10_000_000], down: true }, 'line.waiting.title'],
  ['broken', { always: true, is: ['moving', 10_000_000, { commitment: 'ab'.repeat(32) }], proof: 'line.proof.broken' }, 'line.waiting.title'],
];
/** With screenshots, every screen in every way; otherwise only screens that differ in more than words, each in one way. */
const SEEN = SCREENS.filter(([, { always }]) => SHOTS || always).flatMap((screen, at) => WAYS.filter((_, n) => SHOTS || at % WAYS.length === n).map((way) => [screen, way]))
  .map(([[name, how, title], way]) => ({ name, how, title, way }));

test.each(SEEN)('screen: $name, $way.name $way.colorScheme in $way.language', async ({ name, how, title, way }) => {
  const { is = ['moving', 10_000_000], chance: draws, refused, down, late = false, proof, always: _always, ...more } = how;
  const words = { ...shopWords[way.language], ...lineWords[way.language] };
  const one = await crowd({ ...way.options, ...more, ticket: (user) => ticketOf(user, late ? Math.floor(Date.now() / 1000) : null) });
  const { page, context, go, line, shows, net, sale } = one;
  if (draws !== undefined) await chance(context, draws);
  const { per_s: perS = 500, ...changes } = is[2] ?? {};
  shows(is[0], is[1], changes);
  Object.assign(line.admitted, { per_s: perS });
  if (more.opensInMs) Object.assign(line, { state: 'before', seed: null, watermark: null });
  if (refused) await page.route(/\/tickets$/, refused);
  await go(`sales/${sale}`);
  await heading(page, words[title]).waitFor();
  if (!/joining|drawing|refused/.test(name)) await page.locator('.proof').waitFor();
  if (late) expect(await row(page, 'In line').or(row(page, '队列人数')).textContent()).toContain('2,100');
  net.down = Boolean(down);
  if (down) await page.locator('.stage .hint').waitFor();
  if (proof) {
    await page.locator('.proof summary', { hasText: words[proof] }).click();
    await page.locator('.proof').getByText(line.commitment).waitFor();
  }
  await looksRight(one, `line-${name}-${way.name}-${way.colorScheme}-${way.language}`);
});
