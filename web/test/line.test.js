// The waiting page: from the ticket to the question, or to the end of the line.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { admits, before, commitmentOf, placePpb, rankOfEarly, readTicket, rounded, waitS } from '../js/line.js';
import { lineWords } from '../words/line.js';
import { DESKTOP, PHONE } from './browser.js';
import { heading, shop, visit, work } from './visits.js';

const SHOTS = process.env.SHOTS;
const LINE = { opens_early_s: 3_600, admits_per_s: 50 };
const MINUTE_MS = 60_000;
/** Long enough for a page to be there before an opening, however busy the machine is. */
const SOON_MS = 20_000;
const vectors = JSON.parse(readFileSync(new URL('../../shared/line/vectors.json', import.meta.url), 'utf8'));

describe('places', () => {
  test('are those of the first implementation', () => {
    expect(vectors.rounds.length).toBe(3);
    for (const { sale, round, seed, commitment, places } of vectors.rounds) {
      expect(commitmentOf(sale, round, seed)).toBe(commitment);
      for (const { user, ppb } of places) expect([user, placePpb(seed, user)]).toEqual([user, ppb]);
    }
  });

  test('are given as the same ranges', () => {
    expect(vectors.ranges.length).toBe(30);
    const pair = ([from, to]) => ({ from, to });
    for (const { ppb, people, rank, admitted, per_s: perS, wait_s: wait } of vectors.ranges) {
      expect(rankOfEarly(ppb, people, 2)).toEqual(pair(rank));
      expect(waitS(pair(rank), pair(admitted), perS)).toEqual(wait && pair(wait));
    }
    expect(waitS({ from: 1, to: 2 }, { from: 0, to: 0 }, 0)).toBe(null);
  });

  test('tickets say whose they are, and fronts admit the same people', () => {
    const { tickets, fronts, order_seed: seed, round } = vectors.seals;
    expect([tickets.length, fronts.length > 2]).toEqual([10, true]);
    for (const { ticket, user, late_second: second } of tickets) expect(readTicket(ticket)).toEqual({ round, user, second });
    for (const text of ['', 'AQ', '%%', tickets[0].ticket.replace('A', 'B')]) expect(readTicket(text)).toBe(null);
    const users = [...new Set(tickets.map(({ user }) => user))];
    for (const { early_ppb, late_s: lateS, late_ppb, early_admitted: early, late_admitted: late } of fronts) {
      const admitted = { early_ppb, late_until: lateS ? new Date(lateS * 1000).toISOString() : null, late_ppb };
      const { late_second: second } = tickets.find((one) => one.late_second !== null);
      const those = (when) => users.filter((user) => admits(admitted, { second: when }, placePpb(seed, user)));
      expect(those(null)).toEqual(early);
      expect(those(second)).toEqual(late);
    }
  });

  test('who is still before one is a range that closes as the line moves', () => {
    const line = (early_ppb) => ({ people: { estimate: 1_000_000, error_percent: 2, late: 500 }, admitted: { early_ppb } });
    const early = { second: null };
    expect(before(line(0), early, 48_000_000)).toEqual(rankOfEarly(48_000_000, 1_000_000, 2));
    expect(before(line(47_000_000), early, 48_000_000)).toEqual(rankOfEarly(1_000_000, 1_000_000, 2));
    expect(before(line(48_000_000), early, 48_000_000)).toEqual({ from: 0, to: 0 });
    expect(before(line(1_000_000_000), { second: 7 }, 1, 40)).toEqual({ from: 0, to: 40 });
    expect(rounded({ from: 46_912, to: 49_088 })).toEqual({ from: 46_900, to: 49_100 });
    expect(rounded({ from: 3, to: 9 })).toEqual({ from: 3, to: 9 });
  });
});

const shot = async (page, what) => SHOTS && page.screenshot({ path: `${SHOTS}/line-${what}.png`, fullPage: true });

/** Requests of a page whose address ends so. */
function requests(page, end) {
  const all = [];
  page.on('request', (request) => new URL(request.url()).pathname.endsWith(end) && all.push(request));
  return all;
}

/** What a page does when it is hidden, or seen again. */
const hide = (page, hidden) => page.evaluate((is) => {
  Object.defineProperty(document, 'hidden', { value: is, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);

const lineOf = async (sale) => (await shop.ask('GET', `/v1/sales/${sale}/line`)).body;
const steerLine = async (sale, line) => {
  const { round, round_version } = await shop.operate('GET', `/v1/admin/sales/${sale}`);
  return shop.operate('POST', `/v1/admin/sales/${sale}/edit`, { round, round_version, line });
};

/** Moves a page through time, and what the system tells it of time as well. */
async function traveller(page) {
  let ahead = 0;
  const later = (text) => new Date(Date.parse(text) + ahead);
  await page.clock.install();
  await page.route(/\/v1\//, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    if (body.server_time) body.server_time = later(body.server_time).toISOString();
    const { date } = response.headers();
    await route.fulfill({ response, headers: { ...response.headers(), date: later(date).toUTCString() }, json: body });
  });
  return async (ms) => {
    ahead += ms;
    await page.clock.fastForward(ms);
  };
}

test('before the opening a ticket is got at a moment left to chance, once, and kept', async () => {
  const sale = await shop.sell({ opensInMs: 40 * MINUTE_MS, line: LINE });
  const { page, context, go, rules } = await visit();
  await context.addInitScript(() => {
    Math.random = () => 0.5;
  });
  const travel = await traveller(page);
  const asked = requests(page, '/tickets');
  await go(`sales/${sale}`);
  await page.getByText('You will get your ticket by').waitFor();
  await page.getByText('Coming earlier gives no advantage').waitFor();
  await shot(page, 'coming');
  expect(await rules()).toEqual([]);
  await travel(18 * MINUTE_MS);
  await page.getByText('You will get your ticket by').waitFor();
  expect(asked.length).toBe(0);
  await travel(3 * MINUTE_MS);
  await heading(page, 'You are in line').waitFor();
  await page.getByText('In line so far: about 1.').waitFor();
  await shot(page, 'early');
  expect(await rules()).toEqual([]);
  await page.reload();
  await heading(page, 'You are in line').waitFor();
  expect(asked.length).toBe(1);
});

test('who leaves the page before that gets the ticket right then', async () => {
  const sale = await shop.sell({ opensInMs: 30 * MINUTE_MS, line: LINE });
  const { page, context, go } = await visit();
  await context.addInitScript(() => {
    Math.random = () => 0.9;
  });
  await go(`sales/${sale}`);
  await page.getByText('You will get your ticket by').waitFor();
  await hide(page, true);
  await heading(page, 'You are in line').waitFor();
  // And so does who goes to another screen of the shop.
  const other = await visit();
  await other.context.addInitScript(() => {
    Math.random = () => 0.9;
  });
  await other.go(`sales/${sale}`);
  await other.page.getByText('You will get your ticket by').waitFor();
  await other.page.getByRole('link', { name: 'All sales' }).first().click();
  await expect.poll(async () => (await lineOf(sale)).people.estimate).toBe(2);
});

test('who is not signed in joins with a button', async () => {
  const sale = await shop.sell({ line: { ...LINE, paused: true } });
  const { page, go, rules } = await visit({});
  await go(`sales/${sale}`);
  await page.getByRole('button', { name: 'Get in line' }).waitFor();
  await shot(page, 'join');
  await page.getByRole('button', { name: 'Get in line' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(shop.user());
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await heading(page, 'The line is paused').waitFor();
  // It was not here before the opening, and says so.
  await page.getByText('Checked: the order follows from what was published').click();
  await page.getByText('It was not here before the opening').waitFor();
  expect(await rules()).toEqual([]);
});

test('a line that is held up is waited in, and at the front it goes on to the question by itself, once the page is seen', async () => {
  const user = shop.user();
  const sale = await shop.sell({ opensInMs: shop.loadsWithinMs + SOON_MS, line: { ...LINE, paused: true } });
  const { page, go, rules, shift, GOOD_SHIFT } = await visit({ user });
  const asked = requests(page, '/challenges');
  await go(`sales/${sale}`);
  await heading(page, 'You are in line').waitFor();
  await heading(page, 'The line is paused').waitFor();
  await page.getByText('Checked: the order was fixed before the opening').waitFor();
  expect(await rules()).toEqual([]);
  expect(asked.length).toBe(0);
  await hide(page, true);
  await steerLine(sale, { paused: false });
  await page.waitForFunction(() => document.title.startsWith('It is your turn'), null, { polling: 100 });
  expect(asked.length).toBe(0);
  await hide(page, false);
  await page.getByLabel('Your answer').waitFor();
  const { 'x-line-ticket': ticket, 'x-line-front': front } = asked[0].headers();
  expect(readTicket(ticket)).toMatchObject({ user, second: null });
  expect(front.length).toBeGreaterThan(100);
  await work(page);
  await page.waitForURL(/#\/reservations\//);
  await heading(page, 'Reserved for you').waitFor();
  expect(await shift()).toBeLessThan(GOOD_SHIFT);
  // Back at the sale nobody is asked a second time without wanting to.
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await page.getByText('You have a reservation for this.').waitFor();
  expect(asked.length).toBe(2);
}, 400_000);

test('a ticket that was lost is asked for again, and the place is the same', async () => {
  const user = shop.user();
  const sale = await shop.sell({ opensInMs: shop.loadsWithinMs + SOON_MS / 2, line: { ...LINE, paused: true } });
  const token = await shop.login(user);
  const { status, body: first } = await shop.ask('POST', `/v1/sales/${sale}/tickets`, { token });
  expect([status, first.class]).toEqual([201, 'early']);
  await shop.until(async () => (await lineOf(sale)).seed !== null);
  const { page, go } = await visit({ user });
  await go(`sales/${sale}`);
  await heading(page, 'The line is paused').waitFor();
  const kept = await page.evaluate(() => Object.entries(localStorage).find(([name]) => name.startsWith('line:'))[1]);
  expect(JSON.parse(kept).ticket).toBe(first.ticket);
}, 400_000);

/** A ticket of who came early, as the system would seal it. */
function earlyTicket(user) {
  const head = Buffer.alloc(15);
  head[0] = 1;
  head.writeUInt32BE(1, 3);
  return Buffer.concat([head, Buffer.from(user), Buffer.alloc(32, 7)]).toString('base64url');
}

/** A page whose line is what the test says it is: a crowd of a million, where its user has this place. */
async function crowd(options = {}) {
  const user = shop.user();
  const sale = await shop.sell({ line: { ...LINE, paused: true } });
  const seed = Array.from({ length: 100_000 }, (_, n) => n.toString(16).padStart(64, '0')).find((one) => Math.abs(placePpb(one, user) - 48_000_000) < 300_000);
  const real = await lineOf(sale);
  const one = await visit({ user, ...options });
  const crowded = {
    ...real, seed, commitment: commitmentOf(sale, 1, seed), people: { estimate: 1_000_000, error_percent: 2, late: 0 },
    admitted: { ...real.admitted, per_s: 500 }, units: { total: 10_000, sold: 0, may_return: 0 }, state: 'moving', poll_after_ms: 300,
  };
  const [net, seen] = [{ down: false }, { looks: 0 }];
  const shows = (state, earlyPpb, more = {}) => {
    Object.assign(crowded, { state, ...more, admitted: { ...crowded.admitted, early_ppb: earlyPpb } });
  };
  await one.page.route(/\/tickets$/, (route) => (
    route.fulfill({ status: 201, json: { ticket: earlyTicket(user), sale_id: sale, round: 1, class: 'early', opens_at: real.opens_at, line_path: `/v1/sales/${sale}/line` } })));
  await one.page.route(/\/line$/, (route) => {
    seen.looks += 1;
    return net.down ? route.abort('internetdisconnected') : route.fulfill({ json: { ...crowded, admitted: { ...crowded.admitted, as_of: new Date().toISOString() } } });
  });
  return { ...one, sale, shows, net, looks: () => seen.looks };
}

const row = (page, name) => page.locator('.standing > div').filter({ has: page.getByText(name, { exact: true }) }).locator('dd');

test('in a crowd one sees where one is, through sleep and without a network, and how it ends', async () => {
  const { page, go, shows, net, looks, sale, rules } = await crowd();
  shows('moving', 10_000_000);
  await go(`sales/${sale}`);
  await heading(page, 'You are in line').waitFor();
  expect(await row(page, 'Before you').textContent()).toMatch(/^3[67],\d00 to 3[89],\d00 people$/);
  expect(await row(page, 'Waiting time').textContent()).toBe('1 to 2 minutes');
  expect(await row(page, 'Your place').textContent()).toMatch(/^4[67],\d00 to [45][890],\d00 of about 1,000,000$/);
  expect(await row(page, 'Left').textContent()).toBe('10,000 of 10,000');
  await page.getByText('this page goes on by itself').first().waitFor();

  net.down = true;
  await page.getByText('We cannot reach the shop at the moment. Your place is kept').waitFor();
  shows('moving', 40_000_000, { units: { total: 10_000, sold: 9_000, may_return: 9_000 } });
  net.down = false;
  await expect.poll(() => row(page, 'Before you').textContent()).toMatch(/^7,[3-9]\d0 to 8,[0-6]\d0 people$/);
  expect(await row(page, 'Left').textContent()).toBe('1,000 of 10,000');
  await page.getByText('We cannot reach the shop').waitFor({ state: 'detached' });

  // A tab that slept looks as soon as it is seen.
  await hide(page, true);
  await expect.poll(async () => {
    const seen = looks();
    await page.waitForTimeout(1_500);
    return looks() - seen;
  }).toBe(0);
  shows('moving', 47_400_000);
  await hide(page, false);
  await expect.poll(() => row(page, 'Waiting time').textContent()).toBe('less than a minute');

  shows('sold_out', 47_400_000, { units: { total: 10_000, sold: 10_000, may_return: 10_000 } });
  await heading(page, 'Sold out').waitFor();
  await page.getByText('You were about 48,000th of 1,000,000; 10,000 pieces were sold.').waitFor();
  await page.getByText('Up to 10,000 of them may still come back').waitFor();
  expect(await page.getByText('you need not wait').count()).toBe(0);
  expect(await rules()).toEqual([]);
  shows('sold_out', 47_400_000, { units: { total: 10_000, sold: 10_000, may_return: 3 } });
  await page.getByText('That is too few for the line to reach you, so you need not wait.').waitFor();
  // A unit came back, and the line goes on.
  shows('moving', 47_500_000, { units: { total: 10_000, sold: 9_999, may_return: 2 } });
  await heading(page, 'You are in line').waitFor();
  shows('sold_out', 47_500_000, { units: { total: 10_000, sold: 10_000, may_return: 0 }, poll_after_ms: 0 });
  await page.getByText('None of them comes back, so the line ends here.').waitFor();
  const last = looks();
  await hide(page, true);
  await hide(page, false);
  await page.waitForTimeout(1_000);
  expect(looks()).toBe(last);
}, 400_000);

test('an order that is not what was published is said to be so', async () => {
  const { page, go, shows, sale, rules } = await crowd();
  shows('moving', 1_000, { commitment: 'ab'.repeat(32) });
  await go(`sales/${sale}`);
  await page.getByText('The order does not match what was published').waitFor();
  await page.locator('.proof summary').click();
  await page.getByText('ab'.repeat(32)).waitFor();
  expect(await rules()).toEqual([]);
}, 400_000);

test('whoever is turned away at the gate waits again, and tries no more than a few times', async () => {
  const { page, go, shows, sale, complaints } = await crowd();
  // The page believes that it is its turn, and the gate does not.
  shows('moving', 1_000_000_000);
  const refusal = { status: 409, code: 'not_your_turn', title: 'It is not your turn yet', line_path: `/v1/sales/${sale}/line` };
  await page.route(/\/challenges$/, (route) => (
    route.fulfill({ status: 409, headers: { 'retry-after': '1' }, contentType: 'application/problem+json', body: JSON.stringify(refusal) })));
  const asked = requests(page, '/challenges');
  await go(`sales/${sale}`);
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
  await heading(page, 'It is your turn').waitFor();
  expect(asked.length).toBe(3);
  expect(complaints).toEqual([]);
}, 400_000);

test('a sale without a line loads and asks nothing of one', async () => {
  const sale = await shop.sell();
  const { page, go } = await visit();
  const [looks, tickets, parts] = [requests(page, '/line'), requests(page, '/tickets'), []];
  page.on('request', (request) => /\/assets\/(waiting|hash)-/.test(request.url()) && parts.push(request.url()));
  await go(`sales/${sale}`);
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByLabel('Your answer').waitFor();
  expect([looks.length, tickets.length, parts]).toEqual([0, 0, []]);
});

test.each([
  { name: 'phone', locale: 'zh-CN', colorScheme: 'dark', ...PHONE },
  { name: 'desktop', locale: 'en-GB', colorScheme: 'light', ...DESKTOP },
])('every screen of a line, $name in $locale', async ({ name, ...how }) => {
  const words = lineWords[how.locale.slice(0, 2)];
  const { page, go, shows, sale, rules, shift, GOOD_SHIFT } = await crowd({ ...how, reducedMotion: 'reduce' });
  const seen = async (word, what) => {
    await heading(page, word).waitFor();
    await shot(page, `${name}-${what}`);
    expect(await rules()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  };
  shows('moving', 10_000_000);
  await go(`sales/${sale}`);
  await seen(words['line.waiting.title'], 'waiting');
  shows('paused', 10_000_000);
  await seen(words['line.paused.title'], 'paused');
  shows('sold_out', 10_000_000, { units: { total: 10_000, sold: 10_000, may_return: 400 } });
  await page.locator('.stage.sold_out').waitFor();
  await seen(/./, 'sold-out');
  shows('paused', 1_000_000_000);
  await seen(words['line.turn.title'], 'turn');
  expect(await shift()).toBeLessThan(GOOD_SHIFT);
  await page.locator('.proof summary').click();
  await seen(words['line.turn.title'], 'proof');
}, 400_000);

test('operators see the line, hold it up, and change its speed', async () => {
  const sale = await shop.sell({ title: 'Lined lamp', line: LINE });
  const { page, go, rules } = await visit({ user: 'operator', operator: true });
  await go(`sales/${sale}`, '/operators.html');
  const board = page.locator('.board');
  const dialog = page.getByRole('dialog');
  const act = async (name, fill = async () => {}) => {
    await board.getByRole('button', { name, exact: true }).click();
    await fill();
    await dialog.getByRole('button', { name, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await board.getByText('The line moves.').waitFor();
  await board.getByText('50 people a second').waitFor();
  expect(await rules()).toEqual([]);
  await act('Pause the line');
  await board.getByText('The line is held up.').waitFor();
  await board.getByText('held up', { exact: true }).waitFor();
  expect(await lineOf(sale)).toMatchObject({ state: 'paused', admitted: { per_s: 0 } });
  await act('Change the line’s speed', () => dialog.locator('[name=rate]').fill('7'));
  await board.getByText('7 people a second').waitFor();
  await act('Resume the line');
  await board.getByText('The line moves.').waitFor();
  await expect.poll(async () => (await lineOf(sale)).admitted.per_s).toBe(7);
  await shot(page, 'operators');
});

test('a line and lanes are made in the editor, and fixed there once they are published', async () => {
  const { page, go, rules } = await visit({ user: 'operator', operator: true });
  const id = `op-line-${Date.now().toString(36)}`;
  await go('new', '/operators.html');
  const field = (name) => page.locator(`.editor [name=${name}]`);
  await field('line').selectOption('yes');
  const fields = { title: 'Lined lamp', sale_id: id, price: '5', opens_early: '30', admits: '200', lanes: '20' };
  for (const [name, value] of Object.entries(fields)) await field(name).fill(value);
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.locator('#form-lanes-error').getByText('A whole number').waitFor();
  await field('lanes').fill('4');
  expect(await rules()).toEqual([]);
  await shot(page, 'editor');
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.getByText('This is a draft').waitFor();
  expect(await shop.operate('GET', `/v1/admin/sales/${id}`)).toMatchObject({ line: { opens_early_s: 1_800, admits_per_s: 200 }, lanes: 4 });
  await shop.operate('POST', `/v1/admin/sales/${id}/publish`, {});
  await go(`sales/${id}/settings`, '/operators.html');
  await page.reload();
  await field('admits').waitFor();
  for (const name of ['line', 'opens_early', 'lanes']) expect(await field(name).isDisabled()).toBe(true);
  await field('admits').fill('90');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect((await shop.operate('GET', `/v1/admin/sales/${id}`)).line).toEqual({ opens_early_s: 1_800, admits_per_s: 90 });
});
