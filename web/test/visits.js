// Setup for page tests: a shop, a browser, and pages that are closed after each test and must have no console errors.

import { afterAll, afterEach, beforeAll, describe as describeAny, expect, onTestFinished, test as testAny } from 'vitest';
import { GOOD_SHIFT, SHOTS, WAYS, openBrowser, openPage } from './browser.js';
import { openShop } from './shop.js';

// A real system (SHOP_URL) takes several times as long as the stand-in, so it has the tests that need page and system together. What looks
// at the page alone, or answers the page's requests itself, is for the stand-in.
const REAL = Boolean(process.env.SHOP_URL);
/** Tests of the page and the system together. */
export const test = testAny.skipIf(!REAL);
/** Tests that need the stand-in, or for which it is enough. */
export const onStandIn = { test: testAny.skipIf(REAL), describe: describeAny.skipIf(REAL) };
/** Tests that check something more on the stand-in, and one of most areas, so that it still does what the real system does. What
 * operators do is tried on the real system, by sale-day.test.js. */
export const onBoth = { test: testAny };

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

/** Waits for the focused button to be enabled, which has to happen at this time and leave the focus where it is. */
export async function enabledAt(page, atMs) {
  const buy = page.locator('[data-keep=buy]');
  await buy.focus();
  await page.waitForFunction(() => !document.querySelector('[data-keep=buy]')?.hasAttribute('aria-disabled'), null, { polling: 20 });
  const late = Date.now() - atMs;
  expect(late).toBeGreaterThan(-1_000);
  expect(late).toBeLessThan(5_000);
  expect(await buy.evaluate((element) => element === document.activeElement)).toBe(true);
}

/** A shop for one test, whose users sign in at an issuer. */
export async function shopWithIssuer(options = {}) {
  const other = await openShop({ login: 'oidc', ...options });
  onTestFinished(() => other.stop());
  return other;
}

/** Opens a page with the options of `openPage`, of this shop unless `at` is another. It is closed after the test. */
export async function visit(options = { user: shop.user() }, at = shop) {
  const one = await openPage(browser, at, options);
  open.push(one);
  return one;
}

/** Opens a page at a screen, with the same options. */
export async function arrive(hash, ...more) {
  const one = await visit(...more);
  await one.go(hash);
  return one;
}

/** Sells something with these terms and opens a page with these options, where `enter` goes to the sale. */
export async function selling(terms, options) {
  const sale = await shop.sell(terms);
  const one = await visit(options);
  return { ...one, sale, enter: () => one.go(`sales/${sale}`) };
}

/** The same, and goes there. */
export async function atSale(terms, options) {
  const one = await selling(terms, options);
  await one.enter();
  return one;
}

/** Collects a page's requests whose path is like `path`. */
export function requests(page, path) {
  const all = [];
  page.on('request', (request) => path.test(new URL(request.url()).pathname) && all.push(request));
  return all;
}

/** Lets time pass by `pass` until `what` is as the caller expects. */
export const passing = (pass, what, interval = 50) => expect.poll(async () => {
  await pass();
  return what();
}, { interval });

/** Collects what a page announces, for `announced`. */
export const listen = (page) => page.evaluate(() => {
  window.announced = [];
  for (const region of document.querySelectorAll('[aria-live], [role=status]')) {
    new MutationObserver(() => window.announced.push(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
  }
});
export const announced = (page) => page.evaluate(() => window.announced);

/** Answers the question with a proof of work instead of the picture. */
export async function work(page) {
  await page.getByRole('button', { name: 'I cannot see the picture' }).click();
}

/** Goes from an open sale to the reservation. */
export async function reserve(page, button = 'Buy now') {
  await page.getByRole('button', { name: button }).click();
  await work(page);
  await page.waitForURL(/#\/reservations\//);
}

/** Saves a picture for SHOTS. */
export const shot = async (page, name) => SHOTS && page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });

/** A screen that is accessible, fits, and has not shifted. `name` is that of its picture. */
export async function looksRight({ page, rules, shift }, name, limit = GOOD_SHIFT) {
  await shot(page, name);
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const [broken, shifted] = [await rules(), await shift(limit)];
  expect({ name, broken, shifts: shifted >= limit, isTooWide: await wide() > 0 }).toEqual({ name, broken: [], shifts: false, isTooWide: false });
}

/** Tests on the stand-in how screens look in each way. `holds` looks at one, and names its picture after the area. */
export const inEachWay = (area, title, look) => onStandIn.test.each(WAYS)(`$language, $colorScheme, $name: ${title}`, ({ language, colorScheme, options, name }) => look({
  language, options, holds: (one, what, limit) => looksRight(one, `${area}-${name}-${colorScheme}-${language}-${what}`, limit),
}));

export const heading = (page, name) => page.getByRole('heading', { level: 2, name });

/** Prints what a page shows, since failures on other machines are otherwise hard to understand. */
async function tell(page) {
  const shown = await page.locator('main').innerText({ timeout: 2_000 }).catch(String);
  console.error(`${page.url()} showed:\n${shown}`);
}
