// What every file of page tests stands on: a shop, a browser, and pages that are closed and asked for complaints.

import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openBrowser, openPage } from './browser.js';
import { openShop } from './shop.js';

export let shop;
let browser;
let open = [];

beforeAll(async () => {
  [shop, browser] = await Promise.all([openShop(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await shop?.stop();
});
afterEach(async ({ task }) => {
  const complaints = open.flatMap((one) => one.complaints);
  if (task.result?.state === 'fail') for (const { page } of open) await tell(page);
  await Promise.all(open.map((one) => one.close()));
  open = [];
  expect(complaints).toEqual([]);
});

/** Opens a page that is closed after the test, with the options of `openPage`; of this shop, unless of another. */
export async function visit(options = { user: shop.user() }, at = shop) {
  const one = await openPage(browser, at, options);
  open.push(one);
  return one;
}

/** Takes the way in that needs no picture, from the question on. */
export async function work(page) {
  await page.getByRole('button', { name: 'I cannot see the picture' }).click();
}

/** From the open sale to the reservation. */
export async function reserve(page, button = 'Buy now') {
  await page.getByRole('button', { name: button }).click();
  await work(page);
  await page.waitForURL(/#\/reservations\//);
}

export const heading = (page, name) => page.getByRole('heading', { level: 2, name });

/** A test that fails elsewhere can only be understood by what its pages showed. */
async function tell(page) {
  const shown = await page.locator('main').innerText({ timeout: 2_000 }).catch(String);
  console.error(`${page.url()} showed:\n${shown}`);
}
