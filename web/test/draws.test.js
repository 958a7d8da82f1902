// Red packets and prize draws, from the card to the check of the draw.

import { readFileSync } from 'node:fs';
import { beforeAll, expect } from 'vitest';
import { GOOD_SHIFT } from './browser.js';
import { arrive, atSale, heading, onBoth, onStandIn, reserve, shop, test, visit } from './visits.js';

const SPLIT = { kind: 'split', total_minor: 10_000, min_minor: 1, parts: 'drawn' };
const VECTORS = new URL('../../shared/sale/award_vectors.json', import.meta.url);
const FREE = { price_minor: 0, settlement: 'free' };
/** The real system reveals the seed a minute after the end of a round. */
const REVEALED_WITHIN_MS = process.env.SHOP_URL ? 120_000 : 20_000;

/** A packet whose round has ended. */
const over = async (terms) => {
  const sale = await shop.sell({ allocation: SPLIT, ...FREE, ...terms });
  await shop.update(sale, 'close');
  return sale;
};

/** Other hex digits of the same length. */
const other = (hex) => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);

/** Shows a draw with this document, which its page loads anew. */
async function shows({ page, go }, draw) {
  await page.unroute(/\/draw$/);
  await page.route(/\/draw$/, (route) => route.fulfill({ json: draw }));
  await go('');
  await go(`draws/${draw.sale_id}.${draw.round}`);
}

const order = ({ id, token }) => shop.until(async () => {
  const { body } = await shop.ask('GET', `/v1/reservations/${id}?expedite=true`, { token });
  return body.status === 'granted' && body;
});

const ordersOf = async (sale, count) => Promise.all((await shop.buyers(sale, count)).map(order));

/** A packet that is bought out and over before the first test, so that the minute until its seed is public passes during the others. */
let ended;
beforeAll(async () => {
  const sale = await shop.sell({ title: 'Old year', total: 5, allocation: SPLIT, ...FREE });
  const orders = await ordersOf(sale, 5);
  await shop.update(sale, 'close');
  ended = { sale, orders };
}, 300_000);

onBoth.test('a packet is opened and final, and its draw is not over while the round runs', async () => {
  // Packets open with an animation.
  const { page, go, rules, shift, sale } = await atSale({ title: 'New year', total: 5, allocation: SPLIT, ...FREE }, { user: shop.user(), reducedMotion: 'no-preference' });
  await page.getByText('€100.00 in 5 packets').waitFor();
  expect(await page.getByText('Time to pay').count()).toBe(0);
  await reserve(page, 'Open a packet');
  await heading(page, 'In your packet').waitFor();
  const amount = await page.locator('.award').textContent();
  expect(amount).toMatch(/^€\d+\.\d\d$/);
  expect(await page.getByRole('button', { name: /^Pay|Give it back/ }).count()).toBe(0);
  expect(await rules()).toEqual([]);
  expect(await shift()).toBeLessThan(GOOD_SHIFT);
  const unit = await page.locator('.facts div', { hasText: 'Packet no.' }).locator('dd').textContent();

  // One per person; others get the rest, and all parts add up to the total.
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await page.getByText('One packet for each person.').waitFor();
  expect(await page.getByRole('button', { name: 'Open a packet' }).count()).toBe(0);
  const others = await ordersOf(sale, 4);
  const cents = others.reduce((sum, { award }) => sum + award.amount_minor, Math.round(Number(amount.slice(1)) * 100));
  expect(cents).toBe(10_000);
  await heading(page, 'All packets are open').waitFor();
  await page.getByRole('link', { name: 'My orders' }).click();
  await page.locator('.order', { hasText: amount }).waitFor();

  await go(`draws/${sale}.1.${unit}`);
  await heading(page, 'The draw is not over yet').waitFor();
  expect(await page.getByText('Secret, published after the end').count()).toBe(0);
}, 240_000);

onStandIn.test('tickets win the published prizes, in the published numbers', async () => {
  const prizes = [{ name: 'A phone', count: 1 }, { name: 'A cup', count: 2 }];
  const { page, sale } = await atSale({ title: 'Winter draw', total: 4, allocation: { kind: 'prizes', prizes }, ...FREE });
  await page.getByText('3 prizes, 4 tickets').waitFor();
  await page.getByText('2 of 4 tickets').waitFor();
  await reserve(page, 'Draw a ticket');
  const mine = await page.locator('.award').textContent();
  const title = mine === 'No prize' ? 'Not this time' : 'You have won';
  await heading(page, title).waitFor();
  const others = await ordersOf(sale, 3);
  const all = [mine, ...others.map(({ award }) => award.prize ?? 'No prize')].sort();
  expect(all).toEqual(['A cup', 'A cup', 'A phone', 'No prize']);
  // The page shows the end of the round and the secret without a reload.
  await page.getByRole('link', { name: 'Verify this draw' }).click();
  await heading(page, 'The draw is not over yet').waitFor();
  await shop.update(sale, 'close');
  await heading(page, 'The draw is genuine').waitFor({ timeout: REVEALED_WITHIN_MS });
  await page.getByText(`: ${mine}`, { exact: false }).first().waitFor();
  expect(await page.locator('.winners li').count()).toBe(3);
  for (const { unit, award } of others) {
    if (award.kind === 'blank') continue;
    await page.locator('.winners li', { hasText: award.prize }).filter({ hasText: new RegExp(`ticket ${unit}$`) }).waitFor();
  }
}, 240_000);

test('a draw at the end: people enter, see their entry, and then the winners; root and winners are checked', async () => {
  const prizes = [{ name: 'A phone', count: 1 }, { name: 'A cup', count: 2 }];
  const visitor = await atSale({ title: 'Grand draw', total: 20, allocation: { kind: 'prizes', prizes, draw: 'at_end' }, ...FREE });
  const { page, rules, sale } = visitor;
  await page.getByText('3 prizes, up to 20 entries').waitFor();
  await reserve(page, 'Enter the draw');
  await heading(page, 'You are in').waitFor();
  const number = await page.locator('.award').textContent();
  expect(number).toMatch(/^Number \d+$/);
  expect(await rules()).toEqual([]);
  const others = await shop.buyers(sale, 4);
  for (const other of others) expect((await order(other)).award).toEqual({ kind: 'entered' });
  expect((await shop.ask('GET', `/v1/sales/${sale}/rounds/1/draw/entries/0`)).status).toBe(404);
  await shop.update(sale, 'close');

  // The page shows the result without a reload.
  await page.locator('.granted:not(.entered) .award').waitFor({ timeout: REVEALED_WITHIN_MS + 120_000 });
  const mine = await page.locator('.award').textContent();
  await heading(page, mine === 'No prize' ? 'Not this time' : 'You have won').waitFor();
  const unit = Number(number.replace('Number ', ''));
  const all = [{ unit, award: mine }];
  for (const other of others) {
    await shop.until(async () => (await order(other)).award.kind !== 'entered');
    const { unit: of, award } = await order(other);
    all.push({ unit: of, award: award.prize ?? 'No prize' });
  }
  expect(all.map(({ award }) => award).sort()).toEqual(['A cup', 'A cup', 'A phone', 'No prize', 'No prize']);

  await page.getByRole('link', { name: 'Verify this draw' }).click();
  await heading(page, 'The draw is genuine').waitFor({ timeout: REVEALED_WITHIN_MS });
  await page.getByText('5 entries have exactly the published root').waitFor();
  await page.getByText('The winners follow from the secret and the entries.').waitFor();
  for (const one of all) {
    await page.getByLabel('Your ticket number').fill(String(one.unit));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText(`Ticket ${one.unit}: ${one.award}`).waitFor();
  }
  await page.getByLabel('Your ticket number').fill('20');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('Number 20 is not in the draw.').waitFor();

  // Added and renumbered entries are reported.
  const draw = (await shop.ask('GET', `/v1/sales/${sale}/rounds/1/draw`)).body;
  const { closed } = draw.at_end;
  for (const [change, said] of [
    [{ root: other(closed.root) }, 'The entries do not have the root that was published.'],
    [{ entries: closed.entries + 1 }, 'The entries do not have the root that was published.'],
    [{ winners: closed.winners.toReversed() }, 'The published winners do not follow from the secret and the entries.'],
  ]) {
    await shows(visitor, { ...draw, at_end: { ...draw.at_end, closed: { ...closed, ...change } } });
    await page.getByText(said).waitFor();
    await heading(page, 'This draw does not match').waitFor();
  }
}, 480_000);

// After the draw at the end: while that waits for its seed, this one's becomes public.
onBoth.test('the draw of a packet is checked after its round', async () => {
  const { sale, orders } = ended;
  const words = ({ unit, award }) => `Packet ${unit}: €${(award.amount_minor / 100).toFixed(2)}`;
  const [mine, ...others] = orders;
  const { page } = await arrive(`draws/${sale}.1.${mine.unit}`);
  await heading(page, 'The draw is genuine').waitFor({ timeout: REVEALED_WITHIN_MS });
  await page.getByText('5 packets add up to exactly €100.00.').waitFor();
  await page.getByText(words(mine)).waitFor();
  for (const other of others) {
    await page.getByLabel('Your packet number').fill(String(other.unit));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText(words(other)).waitFor();
  }
  await page.getByLabel('Your packet number').fill('6');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('Type a number from 1 to 5.').waitFor();
}, 240_000);

onStandIn.test('a free unit is final without a payment, and there is nothing to verify', async () => {
  const sale = await shop.sell({ title: 'A sticker', total: 3, ...FREE });
  const { page } = await arrive(`sales/${sale}`);
  await page.locator('.price', { hasText: 'Free' }).waitFor();
  await reserve(page, 'Get one');
  await heading(page, 'It is yours').waitFor();
  expect(await page.getByRole('button', { name: /^Pay|Give it back/ }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Verify this draw' }).count()).toBe(0);
});

onStandIn.test('a changed draw is reported, by its sum and by its fingerprint', async () => {
  const sale = await over({ total: 5 });
  const draw = await shop.until(async () => {
    const { body } = await shop.ask('GET', `/v1/sales/${sale}/rounds/1/draw`);
    return body.seed !== undefined && body;
  });
  const one = await visit();
  for (const change of [
    {}, { seed: other(draw.seed) }, { commitment: other(draw.commitment) }, { allocation: { ...SPLIT, total_minor: 10_001 } },
    { allocation: { ...SPLIT, parts: 'equal' } }, { units: 6 },
  ]) {
    await shows(one, { ...draw, ...change });
    await one.page.locator('.checks li').first().waitFor();
    const isBroken = await one.page.locator('.checks .broken').count() > 0;
    expect({ change, isBroken }).toEqual({ change, isBroken: Object.keys(change).length > 0 });
  }
}, 240_000);

/** Drand's round 1000 and a packet shuffled with it, from the vectors, in the format of the public document. */
function withBeacon() {
  const { beacons: [{ drand_round: round, at_s: at, signature, randomness }], draws } = JSON.parse(readFileSync(VECTORS, 'utf8'));
  const { sale, round: of, plan, seed, commitment, awards } = draws.find(({ beacon }) => beacon === randomness);
  const chain_hash = '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971';
  const draw = {
    sale_id: sale, round: of, encoding: 1, units: plan.parts, label: 'beacon', currency: 'EUR', commitment, seed,
    allocation: { kind: 'split', total_minor: plan.total, min_minor: plan.min, parts: 'drawn', beacon: true },
    closes_at: new Date(at * 1000 + 600_000).toISOString(), reveals_at: new Date(at * 1000 + 660_000).toISOString(),
    drand: { chain_hash, round, at: new Date(at * 1000).toISOString() }, beacon: { signature, randomness },
  };
  return { draw, awards };
}

onStandIn.test('the page waits for a beacon, and checks its signature', async () => {
  const { draw, awards } = withBeacon();
  const one = await visit();
  const { page, go, rules } = one;
  let given = { ...draw, beacon: undefined };
  await page.route(/\/draw$/, (route) => route.fulfill({ json: given }));
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await go(`draws/${draw.sale_id}.${draw.round}.2`);
  await heading(page, 'Waiting for the beacon').waitFor();
  await page.getByText('drand’s round 1000').first().waitFor();
  expect(await rules()).toEqual([]);
  expect(asked.some((url) => url.includes('/drand-'))).toBe(false);
  given = draw;
  await heading(page, 'The draw is genuine').waitFor({ timeout: 60_000 });
  expect(await page.locator('.checks').textContent()).toMatch(/drand signed its round 1000/);
  expect(asked.filter((url) => url.includes('/drand-')).length).toBe(1);
  await page.getByText(`Packet 2: €${(awards[1] / 100).toFixed(2)}`).waitFor();
  const next = { ...draw.drand, round: 1001, at: new Date(Date.parse(draw.drand.at) + 3_000).toISOString() };
  const { signature, randomness } = draw.beacon;
  for (const change of [
    { drand: next }, { closes_at: draw.drand.at }, { beacon: { signature, randomness: draw.seed } },
    { beacon: { signature: signature.replace(/.$/, '8'), randomness } },
  ]) {
    await shows(one, { ...draw, ...change });
    await page.getByText('The beacon does not match').waitFor({ timeout: 60_000 });
    await heading(page, 'This draw does not match').waitFor();
  }
  // A draw that promises a beacon is invalid without it, whatever its label.
  await shows(one, { ...draw, label: 'commitment_only', beacon: undefined, drand: undefined });
  await heading(page, 'This page cannot check this draw').waitFor();
}, 240_000);

onStandIn.test('a large draw is checked without blocking the page', async () => {
  const sale = await over({ total: 100_000, allocation: { ...SPLIT, total_minor: 10_000_000 } });
  const { page } = await arrive(`draws/${sale}.1.99999`);
  await heading(page, 'The draw is genuine').waitFor({ timeout: REVEALED_WITHIN_MS + 30_000 });
  await page.getByText('100,000 packets add up to exactly €100,000.00.').waitFor();
  await page.getByText(/^Packet 99,999: €/).waitFor();
}, 240_000);
