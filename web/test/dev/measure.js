// How fast the pages are on a slow phone: 1.6 Mbit/s, 150 ms, a quarter of this machine's speed, and an empty cache.
// `npm run measure` measures the stand-in, or the shop at SHOP_URL. `--json` prints one line; RUNS sets how often it loads each page.

import { PHONE, openBrowser } from '../browser.js';
import { openShop } from '../shop.js';

const SLOW = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
const CPU_TIMES = 4;
const RUNS = Number(process.env.RUNS ?? 3);
/** A page has loaded once it has requested nothing for this long. */
const QUIET_MS = 1_500;
const LONGEST_MS = 30_000;

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

/** Measures the page at `hash`: `{lcp_ms, bytes, requests, what}`, without later polling. */
async function load(browser, url, hash) {
  const context = await browser.newContext({ ...PHONE, deviceScaleFactor: 2, locale: 'en-GB', reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.enable');
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: false });
    await devtools.send('Network.emulateNetworkConditions', SLOW);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_TIMES });
    const requests = new Map();
    let last = Date.now();
    devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
      // Inline pictures are part of the page.
      if (!request.url.startsWith('data:')) requests.set(requestId, { url: request.url, bytes: 0 });
    });
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!requests.has(requestId)) return;
      requests.get(requestId).bytes = encodedDataLength;
      last = Date.now();
    });
    await page.addInitScript(() => {
      window.largest = null;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const { startTime: at, element, size } = entry;
          window.largest = { at, size, what: element ? `${element.tagName.toLowerCase()} ${entry.url.split('/').at(-1).slice(0, 40)}`.trim() : '' };
        }
      }).observe({ type: 'largest-contentful-paint', buffered: true });
    });
    const begun = Date.now();
    await page.goto(`${url}/#/${hash}`);
    await page.locator('main h1').first().waitFor();
    while (Date.now() - last < QUIET_MS && Date.now() - begun < LONGEST_MS) await page.waitForTimeout(100);
    const { at, what } = await page.evaluate(() => window.largest);
    const seen = new Set();
    const once = [...requests.values()].filter((one) => !seen.has(one.url) && seen.add(one.url));
    return { lcp_ms: Math.round(at), what, requests: once.length, bytes: once.reduce((sum, one) => sum + one.bytes, 0) };
  } finally {
    await context.close();
  }
}

const shop = await openShop();
const browser = await openBrowser();
try {
  const sale = await shop.sell({ title: 'Enamel pendant lamp' });
  const campaign = await shop.campaign([sale]);
  const pages = { list: '', campaign: `campaigns/${campaign}`, sale: `sales/${sale}`, orders: 'orders' };
  const found = {};
  for (const [name, hash] of Object.entries(pages)) {
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) runs.push(await load(browser, shop.url, hash));
    const { what, requests, bytes } = runs.at(-1);
    found[name] = { lcp_ms: median(runs.map((one) => one.lcp_ms)), lcp_of: what, requests, bytes };
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(found));
  else console.table(found);
} finally {
  await browser.close();
  await shop.stop();
}
