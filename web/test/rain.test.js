// Sales whose units become available over time, from the card to a change of their rate.

import { expect } from 'vitest';
import { operators } from '../words/operators.js';
import { shopWords } from '../words/shop.js';
import { cardSays } from './answers.js';
import { GOOD_SHIFT } from './browser.js';
import { act, field, local, operate, succeed, tile, write } from './desk.js';
import { arrive, atSale, enabledAt, heading, inEachWay, onBoth, onStandIn, reserve, selling, shop, test, work } from './visits.js';

/** The time to a drop that a test waits for. */
const SOON_S = 24;
const FREE = { price_minor: 0, settlement: 'free' };
/** A sale that opened a minute ago: one unit at once, one more `soonS` seconds after its creation, and one in an hour. */
const raining = (soonS) => ({ total: 3, rain: { at_once: 1, drops: [{ after_s: 60 + soonS, units: 1 }, { after_s: 3_500, units: 1 }] } });

test('between two drops the page counts down, and the button appears by itself', async () => {
  // The real system loads a sale within a minute, and the drop must come after that.
  const soonS = SOON_S + Math.round(shop.loadsWithinMs / 1000);
  const { page, rules, shift, sale } = await atSale({ ...raining(soonS), ...FREE });
  await page.getByText(/^Next drop in \d+:\d\d · 1 of 3 so far$/).waitFor();
  await page.getByRole('button', { name: 'Get one' }).waitFor();
  await shop.buy(sale);
  await heading(page, 'Next drop in').waitFor();
  const buy = page.locator('[data-keep=buy]');
  expect(await buy.getAttribute('aria-disabled')).toBe('true');
  expect(await rules()).toEqual([]);
  const { body: card } = await shop.ask('GET', `/v1/sales/${sale}`);
  expect(card).toMatchObject({ availability: 'sold_out', rain: { units: 3, dropped: 1 } });
  await enabledAt(page, Date.parse(card.next_release_at));
  expect(await shift()).toBeLessThan(GOOD_SHIFT);
  await reserve(page, 'Get one');
  await heading(page, 'It is yours').waitFor();
  await page.getByRole('link', { name: 'Back to the sale' }).first().click();
  await page.getByText(/\b2 of 3 so far$/).waitFor();
}, 240_000);

onStandIn.test('a buyer between two drops sees when more comes, and continues then', async () => {
  const soonS = SOON_S + Math.round(shop.loadsWithinMs / 1000);
  const { page, sale } = await atSale({ ...raining(soonS), ...FREE });
  await page.getByRole('button', { name: 'Get one' }).click();
  await page.getByLabel('Your answer').waitFor();
  await shop.buy(sale);
  await work(page);
  await heading(page, 'Next drop in').waitFor();
  await page.getByText('the button comes back by itself').waitFor();
  await reserve(page, 'Get one');
  await heading(page, 'It is yours').waitFor();
}, 240_000);

onStandIn.test('with frequent drops the button stays', async () => {
  const { page, enter } = await selling({ total: 10_000, rain: { steady: { units: 1, every_s: 1 } }, ...FREE });
  // All units are always taken, and the next drop is always a moment away.
  await cardSays(page, () => ({ availability: 'sold_out', next_release_at: new Date(Date.now() + 900).toISOString() }));
  await enter();
  await page.getByRole('button', { name: 'Get one' }).waitFor();
  for (let looks = 0; looks < 3; looks += 1) {
    await page.waitForResponse(/\/v1\/sales\/[\w-]+$/);
    expect(await heading(page, 'Next drop in').count()).toBe(0);
  }
});

onBoth.test('a rain is created, watched, and changed while it runs', async () => {
  const { page, rules } = await operate();
  const dialog = page.getByRole('dialog');
  const id = `op-rain-${Date.now().toString(36)}`;
  await page.getByRole('link', { name: 'New sale' }).click();
  await write(page, {
    rain: 'yes', title: 'Operated rain', sale_id: id, price: '5', opens: await local(page, -120_000), total: '500', at_once: '20', every_units: '10',
    every_s: '3600', drops: '3000 25\n3300 5',
  });
  expect(await rules()).toEqual([]);
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Operated rain' }).waitFor();
  const kept = await shop.operate('GET', `/v1/admin/sales/${id}`);
  expect(kept.rain).toEqual({
    at_once: 20, steady: { units: 10, every_s: 3_600 }, drops: [{ after_s: 3_000, units: 25 }, { after_s: 3_300, units: 5 }],
  });
  await act(page, 'Publish');
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  // Units that are available, and units that are still to come.
  await expect.poll(() => tile(page, 'free').textContent(), { timeout: 90_000 }).toBe('20');
  expect(await tile(page, 'to_drop').textContent()).toBe('480');
  await page.getByText('20 of 500 are out').waitFor();

  const fill = (fields) => async () => {
    for (const [name, value] of Object.entries(fields)) await dialog.locator(`[name=${name}]`).fill(value);
  };
  await succeed(page, 'Change the drops', fill({ at_once: '30', units: '1', every_s: '1800', drops: '' }));
  await expect.poll(() => tile(page, 'free').textContent(), { timeout: 30_000 }).toBe('50');
  expect(await tile(page, 'to_drop').textContent()).toBe('450');
  const changed = await shop.operate('GET', `/v1/admin/sales/${id}`);
  expect(changed.rain).toMatchObject({ at_once: 50, steady: { units: 1, every_s: 1_800 } });
  // A drop in the past is refused, with the reason.
  await act(page, 'Change the drops', fill({ at_once: '0', drops: '1 5' }));
  await dialog.getByText(/It did not work.*in the past/).waitFor();
  expect((await shop.operate('GET', `/v1/admin/sales/${id}`)).rain).toEqual(changed.rain);
}, 240_000);

onStandIn.test('a change applies to the plan that was shown: the slower operator is told', async () => {
  const sale = await shop.sell({ title: 'Contested rain', total: 100, rain: { at_once: 5, steady: { units: 1, every_s: 3_000 } } });
  const { page } = await operate(`sales/${sale}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Change the drops' }).click();
  // Meanwhile somebody else changes it.
  await shop.update(sale, 'rain', { rain: { steady: { units: 2, every_s: 3_000 } } });
  await dialog.locator('[name=at_once]').fill('50');
  await dialog.getByRole('button', { name: 'Change the drops' }).click();
  await dialog.getByText('Somebody else has changed the drops').waitFor();
  expect((await shop.operate('GET', `/v1/admin/sales/${sale}`)).rain).toMatchObject({ at_once: 5, steady: { units: 2 } });
}, 240_000);

// On the real system screens take minutes each and look the same.
inEachWay('rain', 'a rain and its forms are accessible, and nothing shifts', async ({ language, options, holds }) => {
  const words = shopWords[language];
  const sale = await shop.sell({ title: 'Paper lantern', ...raining(3_000) });
  const campaign = await shop.campaign([sale], 'Lantern days');
  const one = await arrive(`sales/${sale}`, { ...options, user: shop.user() });
  await one.page.locator('.product .rain').waitFor();
  await heading(one.page, words['open.title']).waitFor();
  await holds(one, 'open');
  await shop.buy(sale);
  await heading(one.page, words['between.title']).waitFor();
  await holds(one, 'between');
  await one.go(`campaigns/${campaign}`);
  await one.page.locator('.card .rain').waitFor();
  await holds(one, 'card');

  const desk = await operate(`sales/${sale}`, options);
  await desk.page.locator('.verdict.clean').waitFor();
  await desk.page.locator('.tile.to_drop').waitFor();
  await holds(desk, 'board');
  await desk.page.getByRole('button', { name: operators[language]['op.rain'], exact: true }).click();
  await desk.page.getByRole('dialog').waitFor();
  await holds(desk, 'change');
  await desk.page.keyboard.press('Escape');
  await desk.go('new');
  await field(desk.page, 'rain').selectOption('yes');
  await holds(desk, 'new');
});
