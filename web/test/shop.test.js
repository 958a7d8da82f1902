import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { calendarOf } from '../js/calendar.js';
import { pictureOf, tellApart } from '../js/pictures.js';
import { amended, cardSays } from './answers.js';
import { PHONE } from './browser.js';
import { traveller } from './in-line.js';
import { arrive, atSale, heading, onBoth, onStandIn, reserve, selling, shop, shopWithIssuer, visit } from './visits.js';

const MINUTE_MS = 60_000;

onStandIn.describe('the list', () => {
  onStandIn.test('has a sale without a campaign, with its price and its opening', async () => {
    const title = `Vase ${shop.user()}`;
    const sale = await shop.sell({ title, opensInMs: 40 * MINUTE_MS, price_minor: 4_200 });
    const { page } = await arrive('', {});
    const card = page.getByRole('link', { name: title });
    expect(await card.getAttribute('href')).toBe(`#/sales/${sale}`);
    const text = await card.innerText();
    expect(text).toContain('€42.00');
    expect(text).toMatch(/Opens in (39|40):\d\d/);
    await expect.poll(() => card.innerText()).not.toBe(text);
  });

  onStandIn.test('needs few requests, and the words of only one language', async () => {
    await shop.sell();
    const { page, go } = await visit({});
    const paths = [];
    page.on('request', (request) => {
      const { protocol, pathname } = new URL(request.url());
      if (protocol !== 'data:') paths.push(pathname);
    });
    await go('');
    await page.locator('.cards a img').first().waitFor();
    expect(paths.filter((path) => path.endsWith('.js'))).toHaveLength(2);
    expect(paths.some((path) => /\/zh-/.test(path))).toBe(false);
    expect(new Set(paths.filter((path) => !path.startsWith('/art/'))).size).toBeLessThanOrEqual(7);
    await page.getByRole('button', { name: '中文' }).click();
    await page.getByRole('heading', { level: 1, name: '限时抢购' }).waitFor();
    expect(paths.some((path) => /\/zh-/.test(path))).toBe(true);
  });
});

onStandIn.describe('pictures', () => {
  onStandIn.test('two sales on a page differ, and each keeps its picture', () => {
    const cards = Array.from({ length: 18 }, (_, at) => ({ sale_id: `offer-${at}` }));
    tellApart(cards);
    const looks = () => cards.map((card) => `${pictureOf(card).src} ${pictureOf(card).tint}`);
    const before = looks();
    expect(new Set(before).size).toBe(18);
    tellApart(cards.toReversed());
    expect(looks()).toEqual(before);
  });

  onStandIn.test('a sale shows its own picture first, and a drawing of an item only if its id names one', () => {
    expect(pictureOf({ sale_id: 'lamp', picture: 'https://img.example/a.jpg' })).toEqual({ src: 'https://img.example/a.jpg' });
    expect(pictureOf({ sale_id: 'green-lamp' }).name).toBe('lamp');
    expect(pictureOf({ sale_id: 'mug' }).name).not.toBe('pot');
    expect(pictureOf({ sale_id: 'potato' }).name).not.toBe('pot');
  });
});

onStandIn.test('a sale that is not loaded yet is shown as being prepared, never as open', async () => {
  const { page, enter } = await selling();
  let isLoaded = false;
  await cardSays(page, () => (isLoaded ? {} : { availability: 'unknown' }));
  await enter();
  await heading(page, 'Almost ready').waitFor();
  expect(await page.getByRole('button', { name: 'Buy now' }).count()).toBe(0);
  isLoaded = true;
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
  // After it has been seen loaded, an unknown state does not hide the button.
  isLoaded = false;
  await page.waitForResponse(/\/v1\/sales\/[\w-]+$/);
  await page.getByRole('button', { name: 'Buy now' }).waitFor();
});

onStandIn.test('a countdown has only the boxes that it needs, and names its time zone', async () => {
  const { page } = await atSale({ opensInMs: 30 * MINUTE_MS }, { timezoneId: 'Asia/Tokyo', user: shop.user() });
  const units = page.locator('.countdown .unit:visible');
  await expect.poll(() => units.allInnerTexts()).toEqual(['min', 'sec']);
  await page.getByText(/Opens .*(GMT\+9|JST)/).waitFor();
});

onStandIn.describe('the calendar', () => {
  const card = {
    sale_id: 'lamp', round: 2, title: 'Lamp, green; 这是一盏非常漂亮的绿色搪瓷吊灯它的灯光温暖柔和适合每一个家庭', opens_at: '2026-12-24T17:00:00.000Z', closes_at: '2026-12-24T17:10:00.000Z',
  };

  onStandIn.test('has the opening as an event, in the standard\'s lines', () => {
    const text = calendarOf(card, 'https://shop.example/#/sales/lamp', Date.parse('2026-12-01T08:00:00Z'));
    const lines = text.split('\r\n');
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    const whole = text.replaceAll('\r\n ', '');
    expect(whole).toContain(`SUMMARY:${card.title.replace(',', '\\,').replace(';', '\\;')}\r\n`);
    for (const line of ['BEGIN:VCALENDAR', 'UID:lamp.2@shop.example', 'DTSTAMP:20261201T080000Z', 'DTSTART:20261224T170000Z', 'DTEND:20261224T171000Z', 'END:VCALENDAR']) {
      expect(lines).toContain(line);
    }
  });

  onStandIn.test('is downloaded as a file', async () => {
    const { page, sale } = await atSale({ opensInMs: 30 * MINUTE_MS }, {});
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Add to calendar' }).click()]);
    expect(download.suggestedFilename()).toBe(`${sale}.ics`);
    expect(await readFile(await download.path(), 'utf8')).toContain(`UID:${sale}.1@`);
  });
});

onStandIn.test('dates and money use the reader’s region, in the page’s language', async () => {
  const sale = await shop.sell({ opensInMs: 30 * MINUTE_MS });
  const { body: card } = await shop.ask('GET', `/v1/sales/${sale}`);
  const says = async (locale, tag) => {
    const { page } = await arrive(`sales/${sale}`, { locale, timezoneId: 'UTC' });
    const at = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(card.opens_at));
    await page.locator('.facts').getByText(at, { exact: true }).waitFor();
  };
  await says('en-US', 'en-US');
  await says('en-GB', 'en-GB');
  await says('de-DE', 'en-DE');
});

onStandIn.test('a buyer who is held up by a pause sees a contact', async () => {
  const { page, enter } = await selling();
  await cardSays(page, () => ({ state: 'paused' }));
  await enter();
  const link = page.getByRole('main').getByRole('link', { name: 'Contact us' });
  expect(await link.getAttribute('href')).toMatch(/^mailto:/);
});

onStandIn.test('words warn when time runs out', async () => {
  const { page, enter } = await selling({ payment_window_s: 300 });
  const travel = await traveller(page);
  await enter();
  await reserve(page);
  await heading(page, 'Reserved for you').waitFor();
  // Less than two and a half minutes are left, and then less than one.
  await travel(150_000);
  await page.getByText('Hurry: not much time left to pay').waitFor();
  await travel(95_000);
  await page.getByText('Less than a minute left to pay').waitFor();
});

onBoth.test('a paid order has a receipt', async () => {
  const title = 'Enamel lamp for a receipt';
  const { page, rules, sale } = await atSale({ title });
  await reserve(page);
  await page.getByRole('button', { name: /^Pay/ }).click();
  await heading(page, 'It is yours').waitFor();
  await page.getByRole('link', { name: 'Receipt' }).click();
  const receipt = page.locator('.receipt');
  const text = await receipt.innerText();
  for (const part of [title, '€189.00', sale]) expect(text).toContain(part);
  await page.getByRole('button', { name: 'Print' }).waitFor();
  expect(await rules()).toEqual([]);
});

onStandIn.test('on a phone, the action is in reach, and covers nothing', async () => {
  const { page } = await atSale({}, { ...PHONE, user: shop.user() });
  const buy = page.getByRole('button', { name: 'Buy now' });
  await buy.waitFor();
  const inView = (locator) => locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= window.innerHeight;
  });
  expect(await inView(buy)).toBe(true);
  await buy.click();
  const answer = page.getByLabel('Your answer');
  await answer.fill('1');
  await page.keyboard.press('Enter');
  await page.locator('#answer[aria-invalid]').waitFor();
  const [said, input] = await Promise.all([page.locator('#challenge-said').boundingBox(), page.locator('#answer').boundingBox()]);
  expect(said.y).toBeLessThan(input.y);
  for (const name of ['I cannot see the picture', 'Another picture']) expect(await inView(page.getByRole('button', { name }))).toBe(true);
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  const [footer, height] = await Promise.all([page.locator('#footer p').boundingBox(), page.evaluate(() => window.innerHeight)]);
  expect(footer.y + footer.height).toBeLessThanOrEqual(height + 1);
});

onStandIn.test('a provider with a page of its own gets the reservation and the way back', async () => {
  const sale = await shop.sell();
  const { page } = await visit();
  await amended(page, '**/config.json', { pay: { kind: 'link', url: 'https://pay.example/' } });
  await page.route('https://pay.example/**', (route) => route.fulfill({ body: 'pay' }));
  await page.goto(`/#/sales/${sale}`);
  await reserve(page);
  await heading(page, 'Reserved for you').waitFor();
  const before = page.url();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.waitForURL(/^https:..pay\.example/);
  const { searchParams } = new URL(page.url());
  expect([searchParams.get('reservation_id'), searchParams.get('return_to')]).toEqual([before.split('/').at(-1), before]);
});

onStandIn.describe('a session of an issuer', () => {
  const LIFE_MS = 6_000;
  const signIn = async (page, go, sale) => {
    await go(`sales/${sale}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Continue to sign in' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  };
  const tokenOf = (page) => page.evaluate(() => JSON.parse(sessionStorage.getItem('session'))?.token);

  onStandIn.test('is renewed silently in every tab while the user is active', async () => {
    const other = await shopWithIssuer({ tokenLifeMs: LIFE_MS });
    const sale = await other.sell();
    const { page, go, context } = await visit({}, other);
    const used = [];
    context.on('request', (request) => {
      const form = new URLSearchParams(request.postData() ?? '');
      if (form.get('grant_type') === 'refresh_token') used.push(form.get('refresh_token'));
    });
    await signIn(page, go, sale);
    const second = await context.newPage();
    await second.goto(`${other.url}/#/orders`);
    await second.getByRole('heading', { name: 'No orders yet' }).waitFor();
    let first;
    await expect.poll(async () => {
      first = await tokenOf(page);
      return first === (await tokenOf(second));
    }).toBe(true);
    const begun = Date.now();
    while (Date.now() < begun + 2.5 * LIFE_MS) {
      await page.keyboard.press('Shift');
      await second.keyboard.press('Shift');
      await page.waitForTimeout(250);
    }
    expect(await tokenOf(page)).not.toBe(first);
    await expect.poll(async () => (await tokenOf(page)) === (await tokenOf(second))).toBe(true);
    // Only one tab renewed each token: a refresh token works once.
    expect(used.length).toBeGreaterThanOrEqual(2);
    expect(new Set(used).size).toBe(used.length);
    for (const tab of [page, second]) {
      await tab.goto(`${other.url}/#/sales/${sale}`);
      await tab.getByRole('button', { name: 'Buy now' }).click();
      await tab.getByLabel('Your answer').waitFor();
      expect(await tab.getByRole('dialog').count()).toBe(0);
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  onStandIn.test('that was idle for a while is renewed when it is used again', async () => {
    const other = await shopWithIssuer({ tokenLifeMs: 2_000 });
    const sale = await other.sell();
    const { page, go } = await visit({}, other);
    await signIn(page, go, sale);
    await page.evaluate(async () => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      // A renewal may be under way.
      await navigator.locks.request('renewal', () => {});
    });
    const before = await tokenOf(page);
    await page.waitForTimeout(3_500);
    expect(await tokenOf(page)).toBe(before);
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => false }));
    await page.getByRole('button', { name: 'Buy now' }).click();
    await page.getByLabel('Your answer').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await tokenOf(page)).not.toBe(before);
  });
});
