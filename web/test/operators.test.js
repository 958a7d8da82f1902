import { expect } from 'vitest';
import { operators } from '../words/operators.js';
import { amended, problem } from './answers.js';
import { LITTLE_SHIFT, SHOTS } from './browser.js';
import { act, desk, local, operate, tile, write } from './desk.js';
import { inEachWay, onStandIn, requests, shop, test } from './visits.js';

onStandIn.test('nothing happens without confirmation, and closing and stopping require the name of the sale', async () => {
  const sale = await shop.sell({ title: 'Named lamp' });
  const { page, rules } = await operate(`sales/${sale}`);
  const dialog = page.getByRole('dialog');
  const updates = requests(page, /\/(pause|close|stop)$/);
  await page.getByRole('button', { name: 'Pause' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  for (const name of ['Close', 'Stop this sale']) {
    await page.getByRole('button', { name, exact: true }).click();
    const typed = dialog.getByLabel(`To confirm, type “Named lamp” or ${sale}`);
    expect(await typed.evaluate((input) => input === document.activeElement)).toBe(true);
    await typed.fill('Another lamp');
    await page.keyboard.press('Enter');
    await dialog.getByText('That does not match. Nothing was done.').waitFor();
    expect(await typed.getAttribute('aria-invalid')).toBe('true');
    expect(await rules()).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  expect(updates.length).toBe(0);
});

test('a red packet and a prize draw are created, published and watched', async () => {
  const { page, go, rules } = await operate();
  const make = async (kind, fields) => {
    const id = `op-${kind}-${Date.now().toString(36)}`;
    await go('new');
    await write(page, { kind, title: `Operated ${kind}`, sale_id: id, opens: await local(page, -120_000), ...fields });
    expect(await rules()).toEqual([]);
    await page.getByRole('button', { name: 'Create the draft' }).click();
    await page.getByRole('heading', { level: 1, name: `Operated ${kind}` }).waitFor();
    expect(await page.getByRole('link', { name: 'Verify this draw' }).count()).toBe(0);
    await act(page, 'Publish');
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    return id;
  };
  const packet = await make('split', { amount: '50.00', total: '50', min: '0.10', parts: 'equal' });
  expect(await shop.operate('GET', `/v1/admin/sales/${packet}`)).toMatchObject({
    allocation: { kind: 'split', total_minor: 5_000, min_minor: 10, parts: 'equal' }, settlement: 'free', total: 50,
    per_user_limit: 1, price_minor: 0,
  });
  await page.getByText('€50.00 in 50 packets').waitFor();
  // The commitment covers every unit, so units cannot be added.
  expect(await page.getByRole('button', { name: 'Add units' }).count()).toBe(0);
  await expect.poll(() => tile(page, 'free').textContent(), { timeout: 90_000 }).toBe('50');
  await shop.buy(packet);
  await expect.poll(() => tile(page, 'ordered').textContent(), { timeout: 30_000 }).toBe('1');
  await page.locator('.tile.ordered', { hasText: 'Granted' }).waitFor();
  expect(await tile(page, 'paid').count()).toBe(0);

  const prizes = await make('prizes', { total: '200', prizes: '2 A lamp\n\n 30 x A cup of tea \n', beacon: 'no' });
  expect((await shop.operate('GET', `/v1/admin/sales/${prizes}`)).allocation).toEqual({
    kind: 'prizes', prizes: [{ name: 'A lamp', count: 2 }, { name: 'A cup of tea', count: 30 }],
  });
  await page.getByText('32 prizes, 200 tickets').waitFor();
  const link = page.getByRole('link', { name: 'Verify this draw' });
  expect(await link.getAttribute('href')).toBe(`/#/draws/${prizes}.1`);
});

onStandIn.test('a beacon is posted for a draw that waits for one', async () => {
  const allocation = { kind: 'prizes', prizes: [{ name: 'A cup', count: 1 }] };
  const sale = await shop.sell({ title: 'Operated draw', allocation, settlement: 'free', price_minor: 0 });
  const { page, go, rules } = await operate();
  const signature = 'b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39';
  const awaits = { chain_hash: '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971', round: 1000, at: '2023-08-23T15:59:24Z' };
  const posted = [];
  await amended(page, `**/v1/admin/sales/${sale}/live`, () => (posted.length > 1 ? {} : { awaits_beacon: awaits }));
  await page.route(`**/v1/admin/sales/${sale}/rounds/1/beacon`, (route) => {
    posted.push(route.request().postDataJSON());
    const wrong = { title: 'This is not the beacon of this draw', detail: "not the signature of drand's round 1000" };
    const answer = { sale_id: sale, round: 1, drand: awaits, beacon: { signature, randomness: '0'.repeat(64) } };
    return route.fulfill(posted.length === 1 ? problem(422, 'wrong_beacon', wrong) : { json: answer });
  });
  await go(`sales/${sale}`);
  await page.getByText('Not loaded until its beacon is posted: drand’s round 1000').waitFor();
  const dialog = page.getByRole('dialog');
  const post = async (text) => {
    await act(page, 'Post the beacon', async () => {
      expect(await dialog.locator('p').first().textContent()).toContain(`https://api.drand.sh/${awaits.chain_hash}/public/1000`);
      expect(await rules()).toEqual([]);
      await dialog.locator('[name=signature]').fill(text);
    });
  };
  await post('a'.repeat(96));
  await dialog.getByText('not the signature of drand').waitFor();
  // The input is still there, to be corrected.
  expect(await dialog.locator('[name=signature]').inputValue()).toBe('a'.repeat(96));
  await dialog.locator('[name=signature]').fill(signature);
  await dialog.getByRole('button', { name: 'Post the beacon', exact: true }).click();
  await page.locator('.board .said', { hasText: 'Done: Post the beacon.' }).waitFor();
  expect(posted).toEqual([{ signature: 'a'.repeat(96) }, { signature }]);
  await page.getByRole('button', { name: 'Post the beacon' }).waitFor({ state: 'detached' });
});

test('a campaign is created, changed, and refused if it names an unknown sale', async () => {
  const [first, second] = [await shop.sell(), await shop.sell()];
  const { page } = await operate('campaigns');
  const dialog = page.getByRole('dialog');
  const id = `days-${Date.now().toString(36)}`;
  const put = async (title, sales) => {
    if (title) await dialog.locator('[name=title]').fill(title);
    await dialog.locator('[name=sales]').fill(sales.join('\n'));
    await dialog.getByRole('button', { name: 'Save' }).click();
  };
  const written = async () => (await shop.operate('GET', '/v1/admin/campaigns')).campaigns.find((one) => one.campaign_id === id);
  await page.getByRole('button', { name: 'New campaign' }).click();
  await dialog.locator('[name=campaign_id]').fill(id);
  await put('Lamp days', [first]);
  await expect.poll(async () => (await written())?.version).toBe(1);
  const edit = page.getByRole('row').filter({ hasText: id }).getByRole('button');
  await edit.click();
  await put('Late lamp days', [first, second]);
  await expect.poll(written).toEqual({ campaign_id: id, title: 'Late lamp days', sale_ids: [first, second], version: 2 });
  await page.getByText('Late lamp days').waitFor();
  await edit.click();
  await put(null, [first, 'nowhere']);
  await dialog.getByText('no such sale: nowhere').waitFor();
  expect(await dialog.locator('[name=sales]').inputValue()).toBe(`${first}\nnowhere`);
  expect((await written()).version).toBe(2);
  // A limit across its sales stays if only something else is changed.
  await dialog.locator('[name=limit]').fill('3');
  await put('Limited lamp days', [first, second]);
  await expect.poll(written).toMatchObject({ title: 'Limited lamp days', limit_per_user: 3, version: 3 });
  await page.getByText('Limited lamp days').waitFor();
  await edit.click();
  await put('Still limited', [first]);
  await expect.poll(written).toMatchObject({ title: 'Still limited', limit_per_user: 3, version: 4 });
});

test('the kill switch stops everything, every page says so, and starting one sale has no effect', async () => {
  const sale = await shop.sell({ title: 'Halted lamp' });
  const { page, go, rules } = await operate();
  const dialog = page.getByRole('dialog');
  const banner = page.getByRole('region', { name: 'Everything is stopped.' });
  try {
    await page.getByRole('button', { name: 'Stop everything' }).click();
    await dialog.getByLabel('To confirm, type STOP').fill('STOP');
    await dialog.getByRole('button', { name: 'Stop everything' }).click();
    await banner.waitFor();
    expect((await shop.operate('GET', '/v1/admin/kill_switches')).stopped).toBe(true);
    const across = await banner.evaluate((element) => element.getBoundingClientRect().width - document.getElementById('header').getBoundingClientRect().width);
    expect(across).toBe(0);
    await page.getByRole('row').filter({ hasText: sale }).locator('.badge', { hasText: 'Stopped' }).waitFor();
    expect(await rules()).toEqual([]);
    for (const name of ['Orders', 'Refunds', 'Campaigns', 'Users', 'Health']) {
      await page.getByRole('navigation', { name: 'Operations' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      expect(await banner.isVisible()).toBe(true);
    }
    await shop.operate('POST', '/v1/admin/stop', { sale_id: sale });
    await go(`sales/${sale}`);
    await page.getByText('This sale is stopped, and so is everything.').waitFor();
    await page.getByRole('button', { name: 'Start this sale' }).click();
    await dialog.getByRole('button', { name: 'Start this sale' }).click();
    await page.locator('.board .said', { hasText: 'everything is still stopped' }).waitFor();
    await page.locator('.board .badge', { hasText: 'Stopped' }).waitFor();
    await page.getByText('Everything is stopped, so this sale sells nothing.').waitFor();
    await banner.getByRole('button', { name: 'Start everything' }).click();
    await dialog.getByRole('button', { name: 'Start everything' }).click();
    await banner.waitFor({ state: 'hidden' });
    await page.locator('.board .badge', { hasText: 'Open' }).waitFor();
  } finally {
    await shop.operate('POST', '/v1/admin/start', {});
    await shop.operate('POST', '/v1/admin/start', { sale_id: sale });
  }
});

onStandIn.test('actions apply to the round that is shown', async () => {
  const { page } = await operate(`sales/${await shop.sell()}`);
  let asked;
  await page.route(/\/pause$/, async (route) => {
    asked = route.request().postDataJSON();
    await route.fulfill(problem(409, 'round_changed', { title: 'Another round is running', round: 2 }));
  });
  await act(page, 'Pause');
  await page.getByRole('dialog').getByText('Another round is running').waitFor();
  expect(asked).toEqual({ round: 1 });
});

test.each([
  ['user', () => `issuer|${shop.user()}/50%2F`],
  ['network', () => `198.51.${Math.floor(Math.random() * 200)}.0/24`, 'a farm of bots'],
])('a %s is blocked, with a reason if it is no user, and unblocked', async (kind, named, note) => {
  const who = named();
  const { page } = await operate('users');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Block', exact: true }).click();
  if (kind !== 'user') await dialog.locator('[name=kind]').selectOption(kind);
  await dialog.locator('[name=who]').fill(who);
  if (note) await dialog.locator('[name=note]').fill(note);
  await dialog.getByRole('button', { name: 'Block', exact: true }).click();
  if (note) await page.getByRole('row').filter({ hasText: who }).getByText(`by an operator: ${note}`).waitFor();
  await page.getByRole('button', { name: `Unblock: ${who}` }).click();
  await dialog.getByRole('button', { name: 'Unblock' }).click();
  await expect.poll(() => page.getByRole('button', { name: `Unblock: ${who}` }).count()).toBe(0);
});

onStandIn.test('without live figures, the audit shows them', async () => {
  const sale = await shop.sell();
  const { page, go } = await desk();
  await amended(page, /\/live$/, { units: null });
  await go(`sales/${sale}`);
  await expect.poll(() => tile(page, 'free').textContent(), { timeout: 30_000 }).toBe('10');
  expect(await tile(page, 'paid').textContent()).toBe('–');
});

onStandIn.test.each(['', 'orders?sale=lamp', 'refunds'])('a user who is not an operator sees only that: %s', async (hash) => {
  const user = shop.user();
  const { page, rules } = await operate(hash, { operator: false, user });
  await page.getByRole('heading', { level: 1, name: 'You have no access' }).waitFor();
  await page.getByText(`You are signed in as ${user}.`).waitFor();
  expect(await page.locator('main').getByRole('button').allTextContents()).toEqual(['Sign in as somebody else']);
  expect(await page.locator('main').locator('input, a, table').count()).toBe(0);
  expect(await page.getByRole('navigation').count()).toBe(0);
  expect(await rules()).toEqual([]);
});

inEachWay('operators', 'the board and a dialog are accessible, and nothing shifts', async ({ language, options, holds }) => {
  const sale = await shop.sell({ title: 'Enamel pendant lamp' });
  const one = await desk(options);
  const { page, go } = one;
  const fonts = [];
  let areLate = true;
  await page.route(/\.woff2$/, (route) => (areLate ? fonts.push(route) : route.continue()));
  await go(`sales/${sale}`);
  await page.locator('.verdict.clean').waitFor();
  areLate = false;
  for (const font of fonts) await font.continue();
  await page.evaluate(() => document.fonts.ready.then(() => null));
  for (let bought = 0; SHOTS && bought < 4; bought += 1) {
    await shop.buy(sale);
    await page.waitForResponse(/\/live$/);
  }
  await holds(one, 'board', LITTLE_SHIFT);
  await page.getByRole('button', { name: operators[language]['op.close'], exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await holds(one, 'question', LITTLE_SHIFT);
});

inEachWay('operators', 'the forms and the board of a draw are accessible, and nothing shifts', async ({ language, options, holds }) => {
  const allocation = { kind: 'prizes', prizes: [{ name: 'A pendant lamp', count: 2 }, { name: 'A teapot', count: 5 }] };
  const sale = await shop.sell({ title: 'Winter draw', allocation, settlement: 'free', price_minor: 0 });
  const one = await operate(`sales/${sale}`, options);
  const { page, go } = one;
  await page.locator('.verdict.clean').waitFor();
  await page.locator('.odds').waitFor();
  await page.locator('.tile.ordered', { hasText: operators[language]['op.state.granted'] }).waitFor();
  await holds(one, 'drawn');
  for (const kind of ['split', 'prizes']) {
    await go('new');
    await page.locator('.editor [name=kind]').selectOption(kind);
    await holds(one, kind);
  }
});
