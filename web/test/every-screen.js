// Looks at every screen of the shop in one language. Each language is a test file, so that they run beside each other: one file took
// as long as all others together.

import { beforeAll, describe, expect, test } from 'vitest';
import { shopWords } from '../words/shop.js';
import { LITTLE_SHIFT, WAYS, painted } from './browser.js';
import { SCREENS } from './screens.js';
import { looksRight, shop, visit } from './visits.js';

export function everyScreen(of) {
  let sale;
  let campaign;

  beforeAll(async () => {
    sale = await shop.sell({ title: 'Enamel pendant lamp', total: 1_000 });
    campaign = await shop.campaign([sale]);
  });

  describe.each(WAYS.filter((way) => way.language === of))('$language, $colorScheme, $name', ({ language, colorScheme, options, name }) => {
    const words = shopWords[language];

    test.each(SCREENS)('$name', async (screen) => {
      const one = await visit({ ...options, user: shop.user() });
      const signOut = () => one.context.addInitScript(() => sessionStorage.removeItem('session'));
      await screen.go({ ...one, sale, campaign, signOut });
      const at = { level: screen.level, ...(screen.heading ? { name: words[screen.heading] } : {}) };
      await one.page.getByRole('heading', at).first().waitFor();
      await looksRight(one, `${name}-${colorScheme}-${language}-${screen.name.replace(/\W+/g, '-')}`);
    });

    test('an answer that comes late moves nothing', async () => {
      const { page, go, shift } = await visit({ ...options, user: shop.user(), reducedMotion: 'no-preference' });
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
}
