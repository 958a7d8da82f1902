import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { smoke, work } from '../deploy/smoke.ts';
import { UsageError } from '../lib/settings.ts';

const tokenOf = (sub: string): string => ['{}', JSON.stringify({ sub }), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');

/** A shop that answers `POST …/publish` with an error. */
function shop() {
  const asked: { path: string; body: any }[] = [];
  vi.stubGlobal('fetch', async (url: string, { body }: { body?: string }) => {
    const path = new URL(url).pathname;
    asked.push({ path, body: body && JSON.parse(body) });
    return path.endsWith('/publish') ? new Response('no', { status: 500 }) : new Response('{}');
  });
  const buys = () => smoke({ url: 'https://shop.example', token: async (role) => tokenOf(`who-is-${role}`), paymentKey: async () => 'key', say: () => undefined });
  return { asked, buys };
}

afterEach(() => vi.unstubAllGlobals());

describe('the sale of the smoke test', () => {
  test('is visible only to its buyer, who is in a group of that name until it is over', async () => {
    const { asked, buys } = shop();
    await expect(buys()).rejects.toThrow(UsageError);
    const [group, sale] = asked;
    const id = sale!.body.sale_id;
    expect(group).toEqual({ path: `/v1/admin/groups/${id}/users`, body: { users: ['who-is-buyer'] } });
    expect(sale!.body.gate).toEqual({ groups_see: [id], groups_buy: [id] });
    expect(asked.slice(-2).map(({ path }) => path)).toEqual([`/v1/admin/sales/${id}/close`, `/v1/admin/groups/${id}/users/remove`]);
  });

  test('names the host that does not answer, without a stack trace', async () => {
    vi.stubGlobal('fetch', async () => Promise.reject(Object.assign(new Error('fetch failed'), { cause: new Error('getaddrinfo ENOTFOUND shop.example') })));
    const buys = smoke({ url: 'https://shop.example', token: async () => tokenOf('a'), paymentKey: async () => 'key', say: () => undefined });
    await expect(buys).rejects.toThrow(new UsageError('shop.example does not answer: getaddrinfo ENOTFOUND shop.example'));
  });
});

test('the proof of work starts with the required zero bits', () => {
  for (const bits of [1, 8, 12]) {
    const hash = createHash('sha256').update(`01a-challenge:${work('01a-challenge', bits)}`).digest('hex');
    expect(BigInt(`0x${hash}`) >> BigInt(256 - bits)).toBe(0n);
  }
});
