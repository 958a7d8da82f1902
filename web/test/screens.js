// Every screen of the shop, and how to get there.

import { commitment, digestOf, planOf, tableOf } from '../js/draw.js';
import { cardSays, json, problem as refusal } from './answers.js';

const SINCE = '2026-11-24T09:00:00.000Z';
const later = (ms) => new Date(Date.now() + ms).toISOString();
const id = (sale) => `${sale}.1.${'0a'.repeat(16)}`;

const screen = (name, heading, go, level = 2) => ({ name, heading, go, level });

/** The sale with its card changed. */
const card = (name, changes, heading) => screen(name, heading, async ({ page, go, sale }) => {
  await cardSays(page, changes);
  await go(`sales/${sale}`);
});

/** What answers requests whose path is like `path`. */
const says = (page, path, answer) => page.route(path, (route) => route.fulfill(answer));
const [CHALLENGES, RESERVATIONS, SALES] = [/\/challenges$/, /\/v1\/reservations\//, /\/v1\/sales$/];

/** Presses the button of a sale. */
const pressed = (name, heading, { before = () => {}, after = () => {} } = {}) => screen(name, heading, async (at) => {
  await before(at);
  await at.go(`sales/${at.sale}`);
  await at.page.locator('[data-keep=buy]:not([aria-disabled])').click();
  await after(at);
});

/** The same, and it gets this problem. */
const problem = (code, status, more = () => ({}), headers = {}) => pressed(`problem ${code}`, `problem.${code}.title`, {
  async before({ page, sale }) {
    await says(page, CHALLENGES, refusal(status, code, more(sale), headers));
    await says(page, RESERVATIONS, json(200, reservation(sale, { status: 'queued' })));
  },
});

const reservation = (sale, more) => ({ reservation_id: id(sale), unit: 7, reserved_at: SINCE, ...more });
const money = { price_minor: 18_900, currency: 'EUR' };

const standing = (name, more, heading) => screen(name, heading, async ({ page, go, sale }) => {
  await says(page, RESERVATIONS, json(200, reservation(sale, more())));
  await go(`reservations/${id(sale)}`);
});

const ended = (status, more = {}) => () => ({ status, ended_at: SINCE, ...money, ...more });

const packet = (more = {}) => ({
  settlement: 'free', price_minor: 0, draw: {
    units: 100, allocation: { kind: 'split', total_minor: 10_000, min_minor: 1, parts: 'drawn' }, commitment: 'ab'.repeat(32),
    label: 'commitment_only', ...more,
  },
});
const early = (more, at) => ({ ...more, early_access: [{ group: 'members', opens_at: at, quota_until: later(10_800_000) }] });
const PRIZES = { kind: 'prizes', prizes: [{ name: 'A pendant lamp', count: 2 }, { name: 'A teapot', count: 20 }] };
const granted = (award) => () => ({ status: 'granted', price_minor: 0, currency: 'EUR', ...(award ? { award } : {}) });

/** A draw of twelve parts or tickets, and its seed. */
const SEED = '07'.repeat(32);
const drawing = (name, allocation, more, heading) => screen(name, heading, async ({ page, go, sale }) => {
  const units = 12;
  const draw = {
    sale_id: sale, round: 1, encoding: 1, units, allocation, currency: 'EUR', label: 'commitment_only', closes_at: SINCE,
    reveals_at: later(50_000), commitment: commitment(sale, 1, SEED, digestOf(tableOf(planOf({ units, allocation }), SEED))), ...more,
  };
  await says(page, /\/draw$/, json(200, draw));
  await go(`draws/${sale}.1.7`);
});
const SPLIT = { kind: 'split', total_minor: 10_000, min_minor: 1, parts: 'drawn' };
const FEW_PRIZES = { kind: 'prizes', prizes: [{ name: 'A pendant lamp', count: 1 }, { name: 'A teapot', count: 3 }] };

export const SCREENS = [
  screen('sales', 'sales.title', ({ page, go }) => go('').then(() => page.locator('.cards a').first().waitFor()), 1),
  screen('many sales', 'sales.title', async ({ page, go }) => {
    const sale = (sale_id, title, more) => ({
      sale_id, title, round: 1, state: 'open', opens_at: later(-60_000), closes_at: later(7_000_000), ...money, per_user_limit: 1,
      payment_window_s: 900, settlement: 'paid', availability: 'available', ...more,
    });
    const sales = [
      sale('mug', 'Stoneware mug', { price_minor: 2_400, list_price_minor: 3_200 }), sale('blanket', 'Blanket of lambswool', { availability: 'few_left' }),
      sale('vase', 'Tall vase, blown by mouth in Murano for this one evening', { availability: 'sold_out' }), sale('clock', 'Wall clock', { availability: 'unknown' }),
      sale('rug', 'Hand-knotted rug', { state: 'upcoming', opens_at: later(6_840_000) }), sale('desk', 'Oak desk', { state: 'upcoming', opens_at: later(180_000_000), closes_at: later(190_000_000) }),
      sale('cup', 'Espresso cups, set of six', { state: 'closed', closes_at: later(-1_000) }),
    ];
    const campaigns = [['lamp-days', 'Lamp days'], ['packets', 'Packets and prizes']].map(([campaign_id, title]) => ({ campaign_id, title, opens_at: SINCE, closes_at: later(60_000) }));
    await says(page, SALES, json(200, { server_time: later(0), sales, campaigns }));
    await go('');
    await page.locator('.cards a').first().waitFor();
  }, 1),
  screen('campaign', null, ({ page, go, campaign }) => go(`campaigns/${campaign}`).then(() => page.locator('.cards a').first().waitFor()), 1),
  screen('no sales', 'sales.none.title', async ({ page, go }) => {
    await says(page, SALES, json(200, { server_time: later(0), sales: [], campaigns: [] }));
    await go('');
  }),
  screen('nothing here', 'missing.title', ({ go }) => go('elsewhere'), 1),
  screen('unknown sale', 'problem.unknown_sale.title', ({ go }) => go('sales/nothing'), 1),
  card('not open', () => ({ state: 'upcoming', opens_at: later(93_784_000), closes_at: later(200_000_000) }), 'countdown.title'),
  card('opens soon', () => ({ state: 'upcoming', opens_at: later(754_000), closes_at: later(200_000_000) }), 'countdown.title'),
  card('being prepared', () => ({ availability: 'unknown' }), 'preparing.title'),
  card('goods', () => ({
    list_price_minor: 24_900, pictures: ['/art/lamp.svg', '/art/box.svg', '/art/bag.svg'], picture: '/art/lamp.svg', terms_url: 'https://shop.example/terms',
    description: 'Spun steel, enamelled by hand in green.\nFits every E27 bulb; the cable is two metres long.',
  }), 'open.title'),
  screen('sale does not load', 'sale.trouble.title', async ({ page, go, sale }) => {
    await says(page, /\/v1\/sales\/[\w-]+$/, refusal(503, 'overloaded'));
    await go(`sales/${sale}`);
  }, 1),
  card('open', () => ({ availability: 'few_left' }), 'open.title'),
  card('paused', () => ({ state: 'paused' }), 'problem.paused.title'),
  card('closed', () => ({ state: 'closed' }), 'problem.closed.title'),
  card('sold out', () => ({ availability: 'sold_out' }), 'problem.sold_out.title'),
  card('red packet', () => packet(), 'split.open.title'),
  card('red packet in equal parts', () => packet({ allocation: { ...SPLIT, parts: 'equal' } }), 'split.open.title'),
  card('red packets gone', () => ({ ...packet(), availability: 'sold_out' }), 'split.sold_out.title'),
  card('red packets over', () => ({ ...packet(), state: 'closed' }), 'problem.closed.title'),
  card('prizes', () => packet({ units: 1_000, allocation: PRIZES }), 'prizes.open.title'),
  card('tickets gone', () => ({ ...packet({ allocation: PRIZES }), availability: 'sold_out' }), 'prizes.sold_out.title'),
  card('rain', () => ({ rain: { units: 200, dropped: 12 }, next_release_at: later(42_000) }), 'open.title'),
  card('rain between drops', () => ({ availability: 'sold_out', rain: { units: 200, dropped: 12 }, next_release_at: later(42_000) }), 'between.title'),
  card('rain that is out', () => ({ availability: 'sold_out', rain: { units: 200, dropped: 200 } }), 'problem.sold_out.title'),
  card('rain to come', () => ({ state: 'upcoming', opens_at: later(93_784_000), closes_at: later(200_000_000), rain: { units: 200, dropped: 0 } }), 'countdown.title'),
  card('members soon', () => early({ opens_at: later(7_200_000), state: 'upcoming' }, later(3_600_000)), 'countdown.title'),
  card('members first', () => early({ opens_at: later(600_000), state: 'upcoming' }, later(-60_000)), 'early.title'),
  card('quota for members', () => early({ opens_at: later(-60_000), state: 'open' }, later(-600_000)), 'open.title'),
  card('free of charge', () => ({ settlement: 'free', price_minor: 0 }), 'open.title'),
  drawing('draw that is not over', SPLIT, {}, 'verify.early.title'),
  drawing('packets that are genuine', SPLIT, { seed: SEED }, 'verify.good.title'),
  drawing('prizes that are genuine', FEW_PRIZES, { seed: SEED }, 'verify.good.title'),
  drawing('draw that was changed', { ...SPLIT, total_minor: 10_001 }, { seed: SEED, commitment: 'ab'.repeat(32) }, 'verify.bad.title'),
  drawing('draw of another version', SPLIT, { seed: SEED, encoding: 2 }, 'verify.other.title'),
  screen('no draw', 'verify.none.title', ({ go, sale }) => go(`draws/${sale}.1`), 1),
  pressed('sign in', 'login.title', { before: ({ signOut }) => signOut() }),
  pressed('session expired', 'problem.unauthorized.title', { before: ({ page }) => says(page, CHALLENGES, json(401, { message: 'Unauthorized' })) }),
  pressed('challenge', 'challenge.title'),
  pressed('wrong answer', 'challenge.title', {
    async after({ page }) {
      await page.locator('#answer').fill('1');
      await page.keyboard.press('Enter');
      await page.locator('#answer[aria-invalid]').waitFor();
    },
  }),
  pressed('work', 'work.title', {
    before: ({ page }) => says(page, CHALLENGES, json(201, {
      challenge_id: 'a', kind: 'work', kinds: ['picture', 'work'], work: { bits: 32 }, expires_at: later(120_000),
    })),
  }),
  problem('invalid_request', 400),
  problem('blocked', 403),
  problem('sold_out', 409),
  problem('limit_reached', 409, (sale) => ({ reservation_ids: [id(sale)] })),
  problem('unpaid_limit', 409),
  problem('closed', 410),
  problem('rate_limited', 429, undefined, { 'retry-after': '20' }),
  problem('paused', 503, undefined, { 'retry-after': '10' }),
  problem('overloaded', 503, undefined, { 'retry-after': '15' }),
  problem('internal', 500),
  screen('no network', 'problem.network.title', async ({ page, go, sale, context }) => {
    await go(`sales/${sale}`);
    await page.locator('[data-keep=buy]:not([aria-disabled])').waitFor();
    await context.setOffline(true);
    await page.locator('[data-keep=buy]').click();
  }),
  standing('queued', () => ({ status: 'queued' }), 'queued.title'),
  standing('pending', () => ({ status: 'pending_payment', ...money, pay_by: later(754_000) }), 'pending.title'),
  standing('time runs out', () => ({ status: 'pending_payment', ...money, pay_by: later(150_000) }), 'pending.title'),
  standing('last minute', () => ({ status: 'pending_payment', ...money, pay_by: later(50_000) }), 'pending.title'),
  screen('give back?', 'pending.title', async (at) => {
    await standing('', () => ({ status: 'pending_payment', ...money, pay_by: later(754_000) })).go(at);
    await at.page.locator('.actions .link').click();
  }),
  standing('time is up', () => ({ status: 'pending_payment', ...money, pay_by: later(-1_000) }), 'over.title'),
  standing('paid', ended('paid'), 'paid.title'),
  screen('receipt', 'receipt', async (at) => {
    await says(at.page, RESERVATIONS, json(200, reservation(at.sale, ended('paid')())));
    await at.go(`receipts/${id(at.sale)}`);
    await at.page.locator('.receipt').waitFor();
  }, 1),
  standing('granted', granted(), 'granted.title'),
  standing('packet opened', granted({ kind: 'amount', amount_minor: 1_388, currency: 'EUR' }), 'award.amount.title'),
  standing('prize won', granted({ kind: 'prize', prize: 'A pendant lamp' }), 'award.prize.title'),
  standing('blank', granted({ kind: 'blank' }), 'award.blank.title'),
  standing('in the draw', granted({ kind: 'entered' }), 'award.entered.title'),
  standing('paid too late', ended('expired', { refund_due: true }), 'expired.title'),
  standing('cancelled', ended('cancelled'), 'cancelled.title'),
  standing('failed', ended('failed', { reason: 'sold_out' }), 'failed.title'),
  screen('unknown reservation', 'problem.unknown_reservation.title', ({ go, sale }) => go(`reservations/${id(sale)}`)),
  screen('orders', 'nav.orders', async ({ page, go, sale }) => {
    const orders = ['pending_payment', 'paid', 'expired', 'failed'].map((status, at) => ({
      ...reservation(sale, status === 'pending_payment' ? { pay_by: later(60_000) } : { ended_at: SINCE }), status, ...money,
      reservation_id: `${sale}.1.${String(at).repeat(32)}`, ...(status === 'failed' ? { reason: 'unknown_sale' } : {}),
    }));
    const won = [{ kind: 'amount', amount_minor: 1_388, currency: 'EUR' }, { kind: 'prize', prize: 'A pendant lamp' }, { kind: 'blank' }];
    orders.push(...won.map((award, at) => ({
      ...reservation(sale, granted(award)()), reservation_id: `${sale}.1.${String(at + 5).repeat(32)}`,
    })));
    await says(page, /\/v1\/orders/, json(200, { orders, next_cursor: `1.${id(sale)}` }));
    await go('orders');
    await page.locator('.order').first().waitFor();
  }, 1),
  screen('no orders', 'orders.none.title', ({ go }) => go('orders')),
  screen('orders, signed out', 'signed.out.title', async ({ go, signOut }) => {
    await signOut();
    await go('orders');
  }),
];
