import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { en } from '../words/en.js';
import { zh } from '../words/zh.js';
import { LITTLE_SHIFT, WAYS, openBrowser, openPage, painted } from './browser.js';
import { SCREENS } from './screens.js';
import { openShop } from './shop.js';

/** The folder for screenshots, if there is one. */
const SHOTS = process.env.SHOTS;

let shop;
let browser;
let sale;
let campaign;

beforeAll(async () => {
  [shop, browser] = await Promise.all([openShop(), openBrowser()]);
  sale = await shop.sell({ title: 'Enamel pendant lamp', total: 1_000 });
  campaign = await shop.campaign([sale]);
});
afterAll(async () => {
  await browser?.close();
  await shop?.stop();
});

test('each Chinese character has a glyph of its own, whatever fonts the machine has', async () => {
  const characters = [...new Set(JSON.stringify(zh).match(/\p{Script=Han}/gu))];
  const context = await browser.newContext();
  const page = await context.newPage();
  const pictures = await page.evaluate((each) => {
    const pen = Object.assign(document.createElement('canvas'), { width: 40, height: 40 }).getContext('2d');
    pen.font = '32px sans-serif';
    return each.map((character) => {
      pen.clearRect(0, 0, 40, 40);
      pen.fillText(character, 2, 34);
      return pen.canvas.toDataURL();
    });
  }, characters);
  await context.close();
  expect(characters.length).toBeGreaterThan(100);
  expect(new Set(pictures).size).toBe(characters.length);
});

describe.each(WAYS)('$language, $colorScheme, $name', ({ language, colorScheme, device, name }) => {
  const words = { en, zh }[language];

  test.each(SCREENS)('$name', async (screen) => {
    const one = await openPage(browser, shop, {
      ...device, colorScheme, locale: language === 'zh' ? 'zh-CN' : 'en-GB', user: shop.user(), reducedMotion: 'reduce',
    });
    try {
      const { page, context } = one;
      const signOut = () => context.addInitScript(() => sessionStorage.removeItem('session'));
      await screen.go({ ...one, sale, campaign, signOut });
      const at = { level: screen.level ?? 2, ...(screen.heading ? { name: words[screen.heading] } : {}) };
      await page.getByRole('heading', at).first().waitFor();
      if (SHOTS) {
        const file = `${name}-${colorScheme}-${language}-${screen.name.replace(/\W+/g, '-')}.png`;
        await page.screenshot({ path: `${SHOTS}/${file}`, fullPage: true });
      }
      expect(await one.rules()).toEqual([]);
      expect(one.complaints).toEqual([]);
      expect(await one.shift()).toBeLessThan(one.GOOD_SHIFT);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wide).toBeLessThanOrEqual(0);
    } finally {
      await one.close();
    }
  });

  test('an answer that comes late moves nothing', async () => {
    const one = await openPage(browser, shop, { ...device, colorScheme, locale: language === 'zh' ? 'zh-CN' : 'en-GB', user: shop.user() });
    try {
      const { page, go, shift } = one;
      const screen = SCREENS.find(({ name: of }) => of === 'packet opened');
      const late = async (route) => {
        await page.getByRole('heading', { level: 2, name: words['wait.title'] }).waitFor();
        await painted(page);
        await route.fallback();
      };
      await screen.go({ sale, page, go: async (hash) => {
        await page.route(/\/v1\/reservations\//, late);
        await go(hash);
      } });
      await page.getByRole('heading', { level: 2, name: words[screen.heading] }).waitFor();
      await painted(page);
      expect(await shift(LITTLE_SHIFT)).toBeLessThan(LITTLE_SHIFT);
    } finally {
      await one.close();
    }
  });
});
