// The pictures in the documentation: a purchase and a stampede, in the running system. `npm run pictures` takes them again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DESKTOP, PHONE, openBrowser, openPage } from '../browser.js';
import { openShop } from '../shop.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PICTURES = `${ROOT}docs/pictures`;
const PATIENCE_MS = 240_000;
/** With these units, the stampede lasts some seconds on this machine. */
const STAMPEDE = { UNITS: '400', BUYERS: '1200', PAYMENT_WINDOW_S: '20' };

/** The demonstration, with its pages kept open: `{url, stop}`. Without a terminal, the crowd comes at the opening. */
async function stage() {
  const demo = spawn('tools/tool.sh', ['local', 'demo', '--hold'], {
    cwd: ROOT, env: { ...process.env, ...STAMPEDE }, stdio: ['ignore', 'inherit', 'pipe'],
  });
  const ended = once(demo, 'exit');
  const url = await new Promise((found, failed) => {
    ended.then(() => failed(new Error('the demonstration has ended')));
    createInterface({ input: demo.stderr }).on('line', (line) => {
      console.error(line);
      const shop = /^\s*Shop\s+(http\S+)$/.exec(line);
      if (shop) found(shop[1]);
    });
  });
  const stop = async () => {
    demo.kill('SIGTERM');
    await ended;
  };
  return { url, stop };
}

const shot = (page, name) => page.screenshot({ path: `${PICTURES}/${name}.png` });
const heading = (page, name) => page.getByRole('heading', { level: 2, name }).waitFor({ timeout: PATIENCE_MS });

async function stampede(browser, shop) {
  const { page, go, close } = await openPage(browser, shop, {
    ...DESKTOP, viewport: { width: 1440, height: 1400 }, user: 'olga', operator: true, home: '/operators.html',
  });
  await go('sales/lamp');
  await page.locator('.tile.paid dd').waitFor({ timeout: PATIENCE_MS });
  // During the rush, with units sold, orders and answers.
  await page.waitForFunction(() => {
    const number = (element) => Number(element?.textContent.replaceAll(',', ''));
    const [free, ordered] = ['free', 'ordered'].map((name) => number(document.querySelector(`.tile.${name} dd`)));
    const perSecond = [...document.querySelectorAll('.box tbody tr td:nth-child(2)')].map(number);
    return free < 250 && ordered > 0 && perSecond.some((rate) => rate >= 5);
  }, null, { timeout: PATIENCE_MS });
  await shot(page, 'operators');
  await close();
}

async function purchase(browser, shop) {
  const chair = await shop.sell({ sale_id: 'chair', title: 'Lounge chair in green wool', total: 8, price_minor: 64_000 });
  await shop.campaign([chair], 'Sit down, winter');
  const desktop = await openPage(browser, shop, { ...DESKTOP, user: 'ada' });
  await desktop.go(`sales/${chair}`);
  await desktop.page.getByRole('button', { name: 'Buy now' }).click();
  await desktop.page.getByLabel('Your answer').waitFor();
  await shot(desktop.page, 'question');
  await desktop.close();

  const { page, go, close } = await openPage(browser, shop, { ...PHONE, deviceScaleFactor: 2, user: 'bo' });
  await go(`sales/${chair}`);
  await page.getByRole('button', { name: 'Buy now' }).click();
  await page.getByRole('button', { name: 'I cannot see the picture' }).click();
  await heading(page, 'Reserved for you');
  await shot(page, 'phone-reserved');
  await page.getByRole('button', { name: /^Pay/ }).click();
  await heading(page, 'It is yours');
  await shot(page, 'phone-paid');
  await close();
}

await mkdir(PICTURES, { recursive: true });
const { url, stop } = await stage();
process.env.SHOP_URL = url;
const browser = await openBrowser();
try {
  const shop = await openShop();
  await stampede(browser, shop);
  await purchase(browser, shop);
} finally {
  await browser.close();
  await stop();
}
