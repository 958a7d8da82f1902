// Early access for members, and their quota.

import { expect, test } from 'vitest';
import { GOOD_SHIFT } from './browser.js';
import { act, operate, write } from './desk.js';
import { fresh } from './shop.js';
import { arrive, atSale, heading, reserve, shop, shot, work } from './visits.js';

/** Long enough to see, short enough to wait for. */
const SOON_MS = process.env.SHOP_URL ? 60_000 : 40_000;

/** Creates a group of these users with a unique name. */
async function group(...users) {
  const name = fresh('members');
  await shop.operate('POST', `/v1/admin/groups/${name}/users`, { users });
  return name;
}

/** A sale that opens for everyone in `opensInMs`, and for its group an hour earlier. */
async function membersFirst(name, opensInMs) {
  const early_access = [{ group: name, lead_s: 3_600 }];
  return shop.sell({ total: 3, opensInMs, lastsMs: 3_600_000, early_access });
}

test('a member buys early; others see when it opens, and buy then', async () => {
  const [member, stranger] = [shop.user(), shop.user()];
  const sale = await membersFirst(await group(member), shop.loadsWithinMs + SOON_MS);
  const theirs = await arrive(`sales/${sale}`, { user: stranger });
  await theirs.page.getByText(/^Members first, everyone from /).waitFor();
  await heading(theirs.page, 'Members first').waitFor();
  await theirs.page.getByRole('button', { name: 'Buy as a member' }).click();
  await work(theirs.page);
  await theirs.page.locator('.stage').getByText('this account is not on their list').waitFor();
  expect(await theirs.page.getByRole('button', { name: 'Not open yet' }).getAttribute('aria-disabled')).toBe('true');
  expect(await theirs.rules()).toEqual([]);

  const mine = await arrive(`sales/${sale}`, { user: member });
  await reserve(mine.page, 'Buy as a member');
  await heading(mine.page, 'Reserved for you').waitFor();

  // When the countdown ends, the button appears without a reload.
  await heading(theirs.page, 'Open now').waitFor({ timeout: shop.loadsWithinMs + 2 * SOON_MS });
  expect(await theirs.page.getByText(/^Members first, everyone from /).count()).toBe(0);
  await reserve(theirs.page);
  expect(await theirs.shift()).toBeLessThan(GOOD_SHIFT);
}, 400_000);

test('before the members’ opening everyone waits, and sees both times', async () => {
  const { page } = await arrive(`sales/${await membersFirst(await group(shop.user()), 2 * 3_600_000)}`);
  await heading(page, 'Opens in').waitFor();
  await page.getByText(/^Members from .+, everyone from /).waitFor();
  expect(await page.getByRole('button', { name: 'Not open yet' }).getAttribute('aria-disabled')).toBe('true');
});

test('the members’ quota is theirs until the end, and everyone sees that', async () => {
  const member = shop.user();
  const early_access = [{ group: await group(member), lead_s: 0, quota: { units: 2, for_s: 1_800 } }];
  const sale = await shop.sell({ total: 3, early_access });
  await shop.buy(sale);
  const theirs = await arrive(`sales/${sale}`);
  await theirs.page.getByText(/^Some pieces are kept for members until /).waitFor();
  await theirs.page.getByRole('button', { name: 'Buy now' }).click();
  await work(theirs.page);
  await heading(theirs.page, 'The rest is for members').waitFor();
  await theirs.page.getByText(/^What is left is kept for members until /).waitFor();
  expect(await theirs.rules()).toEqual([]);
  const mine = await arrive(`sales/${sale}`, { user: member });
  await reserve(mine.page);
  // Looking again brings the button back.
  await theirs.page.getByRole('button', { name: 'Look again' }).click();
  await heading(theirs.page, 'Open now').waitFor();
}, 240_000);

test('what members leave of their quota becomes everyone’s, and the button appears by itself', async () => {
  const quotaS = Math.ceil((shop.loadsWithinMs + SOON_MS) / 1000);
  const early_access = [{ group: await group(shop.user()), lead_s: 0, quota: { units: 1, for_s: quotaS } }];
  const { page } = await atSale({ total: 1, opensInMs: -1_000, early_access });
  await page.getByRole('button', { name: 'Buy now' }).click();
  await work(page);
  await heading(page, 'The rest is for members').waitFor();
  await heading(page, 'Open now').waitFor({ timeout: quotaS * 1000 + SOON_MS });
  await reserve(page);
}, 400_000);

test('an operator uploads a list, but no empty one, creates a sale for it and sees who can buy when', async () => {
  const { page, go, rules } = await operate('users');
  const [listed, filed, name] = [shop.user(), shop.user(), fresh('op')];
  const dialog = page.getByRole('dialog');
  const fillIn = async (users) => {
    await page.getByRole('button', { name: 'Change a list' }).click();
    await dialog.locator('[name=group]').fill(name);
    await dialog.locator('[name=users]').fill(users);
  };
  await fillIn('');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('A list has 1 to 1,000,000 users.').waitFor();
  await dialog.locator('[name=users]').fill(`${listed}\n\n ${listed} \n`);
  // More than fit in one request.
  const many = Array.from({ length: 1_500 }, (_, n) => `${filed}-${n}`).join('\r\n');
  await dialog.locator('[name=file]').setInputFiles({ name: 'members.txt', mimeType: 'text/plain', buffer: Buffer.from(`${filed}\r\n${many}`) });
  expect(await rules()).toEqual([]);
  await shot(page, 'early-operators-list');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await page.locator('.said', { hasText: `${name}: 1,502 of 1,502 users sent.` }).waitFor();
  const users = new Set();
  for (let cursor = ''; cursor !== null;) {
    const list = await shop.operate('GET', `/v1/admin/groups/${name}/users${cursor}`);
    for (const user of list.users) users.add(user);
    cursor = list.next_cursor ? `?cursor=${encodeURIComponent(list.next_cursor)}` : null;
  }
  expect([users.size, users.has(listed), users.has(filed), users.has(`${filed}-1499`)]).toEqual([1_502, true, true, true]);

  await fillIn(filed);
  await dialog.locator('[name=how]').selectOption('remove');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await page.locator('.said', { hasText: `${name}: 1 of 1 users sent.` }).waitFor();

  await go('new');
  await write(page, { title: 'Lamp for members', sale_id: name, price: '9.90', early: 'yes', group: name, lead: '180', quota: '40' });
  expect(await rules()).toEqual([]);
  await shot(page, 'early-operators-form');
  await page.getByRole('button', { name: 'Create the draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Lamp for members' }).waitFor();
  await page.locator('.board-head', { hasText: `quota of 40 for ${name} until ` }).waitFor();
  const terms = await shop.operate('GET', `/v1/admin/sales/${name}`);
  expect(terms.early_access).toEqual([{ group: name, lead_s: 10_800, quota: { units: 40, for_s: 600 } }]);
  await act(page, 'Publish');
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await shot(page, 'early-operators-board');

  const mine = await arrive(`sales/${name}`, { user: listed });
  await reserve(mine.page, 'Buy as a member');
  const out = await arrive(`sales/${name}`, { user: filed });
  await out.page.getByRole('button', { name: 'Buy as a member' }).click();
  await work(out.page);
  await out.page.locator('.stage').getByText('this account is not on their list').waitFor();
}, 300_000);
