import { beforeAll, describe, expect, test } from 'vitest';
import { shopWords } from '../words/shop.js';
import { LITTLE_SHIFT, WAYS, painted } from './browser.js';
import { SCREENS } from './screens.js';
import { looksRight, shop, visit } from './visits.js';

let sale;
let campaign;

beforeAll(async () => {
  sale = await shop.sell({ title: 'Enamel pendant lamp', total: 1_000 });
  campaign = await shop.campaign([sale]);
});

test('each Chinese character has a glyph of its own, whatever fonts the machine has', async () => {
  const characters = [...new Set(JSON.stringify(shopWords.zh).match(/\p{Script=Han}/gu))];
  const { page } = await visit({});
  const pictures = await page.evaluate((each) => {
    const pen = Object.assign(document.createElement('canvas'), { width: 40, height: 40 }).getContext('2d');
    pen.font = '32px sans-serif';
    return each.map((character) => {
      pen.clearRect(0, 0, 40, 40);
      pen.fillText(character, 2, 34);
      return pen.canvas.toDataURL();
    });
  }, characters);
  expect(characters.length).toBeGreaterThan(100);
  expect(new Set(pictures).size).toBe(characters.length);
});

describe.each(WAYS)('$language, $colorScheme, $name', ({ language, colorScheme, options, name }) => {
  const words = shopWords[language];

  test.each(SCREENS)('$name', async (screen) => {
    const one = await visit({ ...options, user: shop.user() });
    const signOut = () => one.context.addInitScript(() => sessionStorage.removeItem('session'));
    await screen.go({ ...one, sale, campaign, signOut });
    const at = { level: screen.level ?? 2, ...(screen.heading ? { name: words[screen.heading] } : {}) };
    await one.page.getByRole('heading', at).first().waitFor();
    await looksRight(one, `${name}-${colorScheme}-${language}-${screen.name.replace(/\W+/g, '-')}`);
  });

  test('an answer that comes late moves nothing', async () => {
    const { page, go, shift } = await visit({ ...options, user: shop.user() });
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
  });
});
