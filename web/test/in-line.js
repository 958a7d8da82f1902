// Helpers for tests of the waiting page.

import { expect } from 'vitest';
import { commitmentOf, placePpb } from '../../clients/typescript/src/place.js';
import { ticketFor } from './dev/lines.js';
import { heading, selling, shop, visit } from './visits.js';

export const LINE = { opens_early_s: 3_600, admits_per_s: 50 };
export const MINUTE_MS = 60_000;
/** Time from publication to opening for sales that open early, once everyone is there, however slow the machine is. */
export const LONG_MS = 40 * MINUTE_MS;

/** Hides a page, or shows it again. */
export const hide = (page, hidden) => page.evaluate((is) => {
  Object.defineProperty(document, 'hidden', { value: is, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);

export const lineOf = async (sale) => (await shop.ask('GET', `/v1/sales/${sale}/line`)).body;

export async function edit(sale, changes) {
  const { round, round_version } = await shop.operate('GET', `/v1/admin/sales/${sale}`);
  return shop.operate('POST', `/v1/admin/sales/${sale}/edit`, { round, round_version, ...changes });
}

/** Moves the opening to now, and waits until the order is public. Pages learn of it at their next poll. */
export async function open(sale) {
  await edit(sale, { opens_at: new Date().toISOString() });
  await shop.until(async () => (await lineOf(sale)).seed !== null);
}

/** A page's stored state of its line. */
export const kept = (page) => page.evaluate(() => JSON.parse(Object.entries(localStorage).find(([name]) => name.startsWith('line:'))?.[1] ?? 'null'));

/** Changes that state, as another tab would. */
export const keep = (page, changes) => page.evaluate((more) => {
  const [name, text] = Object.entries(localStorage).find(([key]) => key.startsWith('line:'));
  localStorage.setItem(name, JSON.stringify({ ...JSON.parse(text), ...more }));
}, changes);

/** Moves a page's clock ahead, and the system's times in its answers with it. */
export async function traveller(page) {
  let ahead = 0;
  const later = (text, by) => new Date(Date.parse(text) + by);
  await page.clock.install();
  await page.route(/\/v1\//, async (route) => {
    // An answer that is under way when the clock moves keeps the time before the move: the page measures from when it asked.
    const by = ahead;
    const response = await route.fetch({ maxRetries: 2 });
    const body = await response.json();
    if (body.server_time) body.server_time = later(body.server_time, by).toISOString();
    const { date } = response.headers();
    await route.fulfill({ response, headers: { ...response.headers(), date: later(date, by).toUTCString() }, json: body });
  });
  return async (ms) => {
    ahead += ms;
    await page.clock.fastForward(ms);
  };
}

/** A page whose random numbers are all the same. */
export const chance = (context, value) => context.addInitScript((is) => {
  Math.random = () => is;
}, value);

/** A page that is about to get its ticket, after this fraction of the time until the opening. */
export async function coming(part, terms, options) {
  const one = await selling({ opensInMs: LONG_MS, line: LINE, ...terms }, options);
  await chance(one.context, part);
  await one.enter();
  await one.page.getByText('You will get your ticket by').waitFor();
  return one;
}

/** A ticket whose seal nobody checks. */
export const ticketOf = (user, second = null) => ticketFor(user, 1, second);

/** A seed that gives the user about this place. */
const seedFor = (user, ppb) => Array.from({ length: 100_000 }, (_, n) => n.toString(16).padStart(64, '0'))
  .find((one) => Math.abs(placePpb(one, user) - ppb) < 300_000);

/**
 * A page with a simulated line: a crowd of a million, in which its user has the 48,000th place, and 10,000 are admitted. `enter` opens
 * the sale, where the user is in line; `shows` changes the document; `net.answers` replaces its answer: `(route, document) => …`, or null.
 */
export async function crowd({ opensInMs, ticket = ticketOf, clock = false, ...options } = {}) {
  const user = options.user === null ? null : shop.user();
  const sale = await shop.sell({ opensInMs, line: { ...LINE, paused: true } });
  const seed = seedFor(user ?? 'nobody', 48_000_000);
  const real = await lineOf(sale);
  const one = await visit({ user, ...options });
  const line = {
    ...real, seed, commitment: commitmentOf(sale, 1, seed), people: { estimate: 1_000_000, error_percent: 2, late: 0 },
    admitted: { ...real.admitted, early_ppb: 10_000_000, per_s: 500 }, units: { total: 10_000, sold: 0, may_return: 0 }, state: 'moving', poll_after_ms: 300, watermark: 'AQ',
  };
  const net = { down: false, answers: null, lateMs: 0, aheadMs: 0 };
  const lookedAt = [];
  const shows = (state, earlyPpb, more = {}) => {
    Object.assign(line, { state, ...more, admitted: { ...line.admitted, early_ppb: earlyPpb } });
  };
  await one.page.route(/\/tickets$/, (route) => (
    route.fulfill({ status: 201, json: { ticket: ticket(user), sale_id: sale, round: 1, class: 'early', opens_at: real.opens_at, line_path: `/v1/sales/${sale}/line` } })));
  await one.page.route(/\/line$/, (route) => {
    lookedAt.push(Date.now() + net.aheadMs);
    const now = structuredClone({ ...line, admitted: { ...line.admitted, as_of: new Date(Date.now() + net.aheadMs - net.lateMs).toISOString() } });
    if (net.down) return route.abort('internetdisconnected');
    return net.answers ? net.answers(route, now) : route.fulfill({ json: now });
  });
  const { page } = one;
  if (clock) await page.clock.install();
  // Counted by the page: the browser's events may come after the clock has moved on.
  await page.addInitScript(() => {
    const { fetch } = window;
    window.underWay = 0;
    window.fetch = async (...request) => {
      window.underWay += 1;
      try {
        const response = await fetch(...request);
        await response.clone().text();
        return response;
      } finally {
        window.underWay -= 1;
      }
    };
  });
  const virtual = {
    /** From here on, only `run` moves time. */
    stop: () => virtual.on(MINUTE_MS, (ms) => page.clock.pauseAt(new Date(Date.now() + net.aheadMs + ms))),
    skip: (ms) => virtual.on(ms, () => page.clock.fastForward(ms)),
    run: (ms) => virtual.on(ms, () => page.clock.runFor(ms)),
    /** Until the page has its answers: on a busy machine it would give up on them as its clock moves on. */
    answered: () => expect.poll(() => page.evaluate(() => window.underWay), { interval: 5 }).toBe(0),
    /** Moves the line's time along with the page's. */
    on(ms, pass) {
      const passed = pass(ms);
      net.aheadMs += ms;
      return passed;
    },
  };
  const enter = async () => {
    await one.go(`sales/${sale}`);
    await heading(page, 'You are in line').waitFor();
  };
  return { ...one, enter, sale, user, line, shows, net, virtual, lookedAt, looks: () => lookedAt.length };
}

export const row = (page, name) => page.locator('.standing > div').filter({ has: page.getByText(name, { exact: true }) }).locator('dd');
