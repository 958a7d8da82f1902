import net from 'node:net';
import { expect } from 'vitest';
import { heading, onBoth, selling, shop, test } from './visits.js';

const picture = (page) => page.getByLabel('Your answer');

async function begin(challenge) {
  const user = shop.user();
  const one = await selling({ gate: { challenge, ...(challenge === 'work' ? { work_bits: 12 } : {}) } }, { user });
  const asked = one.page.waitForResponse((response) => response.url().endsWith('/challenges'));
  await one.enter();
  await one.page.getByRole('button', { name: 'Buy now' }).click();
  return { ...one, user, challenge: await (await asked).json() };
}

onBoth.test.each([['none', { kind: 'none' }], ['work', { kind: 'work', kinds: ['work'], work: { bits: 12 } }]])('a sale that asks for %s goes from the button to the reservation', async (kind, asked) => {
  const { page, challenge } = await begin(kind);
  expect(challenge).toMatchObject(asked);
  await heading(page, 'Reserved for you').waitFor();
});

test.each([['picture', 0], ['any', 1]])('a sale that asks for %s shows a picture, and a way around it only if work will do', async (kind, ways) => {
  const { page } = await begin(kind);
  await picture(page).waitFor();
  expect(await page.getByRole('button', { name: 'I cannot see the picture' }).count()).toBe(ways);
  await page.getByRole('button', { name: 'Another picture' }).waitFor();
});

/** The value of a key in Redis, which no client can read. */
function redis(key) {
  const { hostname, port } = new URL(process.env.REDIS_URL);
  return new Promise((done, stop) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(`*2\r\n$3\r\nGET\r\n$${Buffer.byteLength(key)}\r\n${key}\r\n`));
    socket.once('data', (data) => {
      socket.destroy();
      done(data.toString().split('\r\n')[1]);
    });
    socket.once('error', stop);
  });
}

test.skipIf(!process.env.REDIS_URL)('a right answer to the picture gets a reservation, and a wrong one gets another picture', async () => {
  const { page, sale, user, challenge } = await begin('picture');
  await picture(page).waitFor();
  const again = page.waitForResponse((response) => response.url().endsWith('/challenges'));
  await picture(page).fill('7');
  await page.keyboard.press('Enter');
  const { challenge_id: id } = await (await again).json();
  expect(id).not.toBe(challenge.challenge_id);
  await page.getByText('That was wrong').waitFor();
  const [state, answer] = (await redis(`challenge:{${sale}:1:0}:${user}:${id}`)).split(' ');
  expect(state).toBe('open');
  await picture(page).fill(answer);
  await page.keyboard.press('Enter');
  await heading(page, 'Reserved for you').waitFor();
});
