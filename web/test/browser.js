// A browser that watches pages for console errors, layout shifts and accessibility violations.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { launchOptions } from '../../clients/bin/chromium.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Chromium logs every failed request to the console. Each test decides which ones are allowed. */
const ANSWER = /^Failed to load resource:/;
/** The maximum layout shift (CLS) that browsers rate as good. */
export const GOOD_SHIFT = 0.1;
/** The shift of a footer that goes out of sight. */
export const LITTLE_SHIFT = 0.05;
/** How long after a user's input a shift is expected. Browsers allow half a second, but a busy machine paints the answer later. */
const SHIFT_ALLOWED_MS = 2_000;
/** A proof of work takes a second on an idle machine, sometimes ten times as long, and test machines are not idle. */
const PATIENCE_MS = 120_000;

/** The folder for pictures of the screens, if there is one. */
export const SHOTS = process.env.SHOTS;
const LOCALES = { en: 'en-GB', zh: 'zh-CN' };

export const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
export const DESKTOP = { viewport: { width: 1280, height: 800 } };

/**
 * The ways in which tests look at every screen. English words are longer than Chinese ones, so they are what a phone may not have
 * room for. For pictures (SHOTS), every combination of language and device.
 */
export const WAYS = [
  { language: 'en', colorScheme: 'dark', device: PHONE, name: 'phone' },
  { language: 'zh', colorScheme: 'light', device: DESKTOP, name: 'desktop' },
  { language: 'en', colorScheme: 'light', device: DESKTOP, name: 'desktop' },
  { language: 'zh', colorScheme: 'dark', device: PHONE, name: 'phone' },
].slice(0, SHOTS ? 4 : 2).map((way) => ({ ...way, options: { ...way.device, colorScheme: way.colorScheme, locale: LOCALES[way.language] } }));

export const openBrowser = async () => chromium.launch(await launchOptions());

/** Opens a page of the shop, or one whose path is `home`: `{page, context, complaints, answers, go, shift, rules, close}`. */
export async function openPage(browser, shop, { user = null, offsetMs = 0, home = '/', ...options } = {}) {
  // An animation would be painted sixty times a second, by the processor.
  const context = await browser.newContext({ ...DESKTOP, locale: LOCALES.en, reducedMotion: 'reduce', baseURL: shop.url, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints = [];
  const answers = [];
  await context.addInitScript(watchShift, SHIFT_ALLOWED_MS);
  if (offsetMs) await context.addInitScript(misset, offsetMs);
  if (user) {
    const token = await shop.login(user, options.operator === true);
    await context.addInitScript(([who, key]) => {
      if (!sessionStorage.getItem('session')) sessionStorage.setItem('session', JSON.stringify({ user: who, token: key }));
    }, [user, token]);
  }
  const page = await context.newPage();
  page.on('console', (line) => {
    if (line.type() === 'error') (ANSWER.test(line.text()) ? answers : complaints).push(line.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  return {
    page,
    context,
    complaints,
    answers,
    go: async (hash) => {
      await page.goto(`${home}#/${hash}`);
    },
    /** The layout shift without user input, as the browser measures it. Says what moved if it is `limit` or more. */
    shift: async (limit = GOOD_SHIFT) => {
      await painted(page);
      const { shifted, moved } = await page.evaluate(() => window.shifts());
      if (shifted >= limit) console.error(moved.join('\n'));
      return shifted;
    },
    /** Accessibility violations, and words such as `undefined` that no page should show. */
    rules: () => brokenRules(page),
    close: async () => {
      // A request that a test still holds ends with the page, which is not a failure.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}

/** Runs in the page. */
function watchShift(allowedMs) {
  let input = -Infinity;
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, ({ timeStamp }) => { input = timeStamp; }, { capture: true, passive: true });
  const seen = { shifted: 0, moved: [] };
  // As browsers rate it: the worst window of at most five seconds, without a pause of one. A visit of many pages has many.
  let [sum, first, last] = [0, 0, 0];
  const rows = ({ y, height }) => `${Math.round(y)} (${Math.round(height)} high)`;
  const move = ({ node, previousRect, currentRect }) => `${node?.nodeName} ${node?.className} from ${rows(previousRect)} to ${rows(currentRect)}`;
  const note = (entries) => {
    for (const { startTime, value, sources } of entries) {
      // Not `hadRecentInput`: that is also set for half a second after a phone's page was opened, and hid what moved then.
      if (startTime - input <= allowedMs) continue;
      if (startTime - last >= 1_000 || startTime - first >= 5_000) [sum, first] = [0, startTime];
      last = startTime;
      sum += value;
      seen.shifted = Math.max(seen.shifted, sum);
      seen.moved.push(`${value.toFixed(3)} at ${Math.round(startTime)} ms: ${sources.map(move).join(', ')}`);
    }
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  // Those that the browser has measured and not handed over yet count, too.
  window.shifts = () => {
    note(observer.takeRecords());
    return seen;
  };
}

/** Waits until the page has shown what it has now. */
export const painted = (page) => page.evaluate(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done));
}));

/** A client whose clock is wrong. */
function misset(ms) {
  const Real = Date;
  class Wrong extends Real {
    constructor(...given) {
      super(...(given.length ? given : [Real.now() + ms]));
    }

    static now() {
      return Real.now() + ms;
    }
  }
  window.Date = Wrong;
  const origin = performance.timeOrigin + ms;
  Object.defineProperty(performance, 'timeOrigin', { get: () => origin });
}

async function brokenRules(page) {
  if (!(await page.evaluate(() => 'axe' in window))) {
    // The page's policy forbids other scripts, but not evaluation by the debugger.
    await page.evaluate(AXE);
  }
  const { violations } = await page.evaluate(() => window.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    // Otherwise axe describes each element that passes, too.
    resultTypes: ['violations'],
  }));
  const broken = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  const words = (await page.locator('body').innerText()).split(/\s+/);
  return [...broken, ...words.filter((word) => /^(null|undefined|NaN)$|\[object /.test(word)).map((word) => `a page that says “${word}”`)];
}
