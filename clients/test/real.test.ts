// The client, packed and installed as an app would have it, buys on the system at SHOP_URL.

import { execFile, type ExecFileException } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { openShop } from '../../web/test/shop.js';
import { atRoot } from '../bin/files.js';
import type * as Package from '../typescript/src/index.ts';
import { messageErrors } from './messages.ts';

const CLIENTS = atRoot('clients');

interface Run {
  status: number;
  out: string;
}

function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Run> {
  return new Promise((done) => {
    execFile(program, args, { cwd, env: { ...process.env, ...env } }, (error: ExecFileException | null, out, err) => {
      done({ status: error ? Number(error.code ?? 1) : 0, out: out + err });
    });
  });
}

describe.runIf(process.env['SHOP_URL'])('on the real system', () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  let lamp: string;
  let packet: string;
  let pushUrl: string;
  let app: string;
  let installed: typeof Package;

  /** An app of its own outside of the checkout, with the packed client and nothing else of it. */
  async function install() {
    app = await mkdtemp(join(tmpdir(), 'client-'));
    const packed = await run('npm', ['pack', '--workspace', 'typescript', '--pack-destination', app], CLIENTS);
    expect(packed).toMatchObject({ status: 0 });
    const [tarball] = await readdir(app);
    await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', type: 'module', private: true }));
    const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', `./${tarball}`];
    expect(await run('npm', args, app)).toMatchObject({ status: 0 });
    expect((await readdir(join(app, 'node_modules'))).filter((name) => !name.startsWith('.')).sort()).toEqual([
      'flash-sale-client', 'openapi-fetch', 'openapi-typescript-helpers',
    ]);
    await cp(join(CLIENTS, 'typescript/examples/buy.ts'), join(app, 'buy.ts'));
    // Only the types of Node come from here.
    await mkdir(join(app, 'types'));
    await symlink(join(CLIENTS, 'node_modules/@types/node'), join(app, 'types/node'));
    await symlink(join(CLIENTS, 'node_modules/undici-types'), join(app, 'node_modules/undici-types'));
    const config = {
      compilerOptions: {
        target: 'ES2022', lib: ['ES2022', 'DOM'], module: 'NodeNext', strict: true, skipLibCheck: false, rootDir: '.',
        noImplicitReturns: true, noFallthroughCasesInSwitch: true, exactOptionalPropertyTypes: true, types: ['node'], typeRoots: ['types'],
      },
      files: ['buy.ts'],
    };
    await writeFile(join(app, 'tsconfig.json'), JSON.stringify(config));
    expect(await run(join(CLIENTS, 'node_modules/.bin/tsc'), [], app)).toEqual({ status: 0, out: '' });
    installed = await import(join(app, 'node_modules/flash-sale-client/dist/index.js'));
  }

  beforeAll(async () => {
    shop = await openShop();
    const config = await fetch(`${shop.url}/config.json`);
    pushUrl = ((await config.json()) as { push_url: string }).push_url;
    const free = {
      total: 2, price_minor: 0, settlement: 'free', allocation: { kind: 'split', total_minor: 1_000, min_minor: 1, parts: 'equal' },
    };
    [lamp, packet] = await Promise.all([shop.sell(), shop.sell(free as object), install()]);
  });
  afterAll(() => rm(app, { recursive: true, force: true }));

  const pay = async ({ reservation_id, price_minor, currency }: { reservation_id: string; price_minor: number; currency: string }) => {
    const { status } = await shop.ask('POST', '/stand-in/pay', { body: { reservation_id, price_minor, currency } } as object);
    expect(status).toBe(200);
  };

  /** A client of the packed package for a user, with every message of push that it hears. */
  async function clientOf(user: string, more: Partial<Package.ClientOptions> = {}) {
    const token = await shop.login(user);
    const heard: unknown[] = [];
    class Socket extends WebSocket {
      constructor(url: string) {
        super(url);
        this.on('message', (data) => heard.push(JSON.parse(String(data))));
      }
    }
    const options = { baseUrl: shop.url, getToken: () => token, pushUrl, WebSocket: Socket as unknown as Package.OpenSocket, ...more };
    return { client: new installed.FlashSaleClient(options), heard };
  }

  test('the example buys, and finds its reservation again by the same key', async () => {
    const TOKEN = await shop.login(shop.user());
    const env = { API_URL: shop.url, TOKEN, KEY: 'example-1', UNTIL: 'pending_payment' };
    const first = await run('node', ['buy.js', lamp], app, env);
    expect(first, first.out).toMatchObject({ status: 0 });
    const steps = [...first.out.matchAll(/^(\w+): /gm)].map(([, status]) => status);
    expect(steps).toEqual(['challenged', 'admitted', 'queued', 'pending_payment']);
    const [id] = /\S+\.1\.[0-9a-f]{32}/.exec(first.out) ?? [];
    const second = await run('node', ['buy.js', lamp], app, env);
    expect(second.out).toContain(`queued: ${id}`);
    const third = await run('node', ['buy.js', lamp], app, { ...env, KEY: 'example-2' });
    expect(third, third.out).toMatchObject({ status: 1 });
    expect(third.out).toContain('refused: limit_reached');
  });

  test('from the challenge to the paid order, told by push', async () => {
    const { client, heard } = await clientOf(shop.user());
    const statuses: string[] = [];
    let id = '';
    for await (const state of client.buy(lamp)) {
      statuses.push(state.status);
      if (state.status !== 'pending_payment') continue;
      id = state.reservation_id;
      await pay(state);
    }
    expect(statuses).toEqual(['challenged', 'admitted', 'queued', 'pending_payment', 'paid']);
    expect(heard.length).toBeGreaterThan(0);
    for (const message of heard) expect(messageErrors(message), JSON.stringify(message)).toEqual([]);
    expect(heard.at(-1)).toEqual({ type: 'reservation', reservation_id: id, status: 'paid' });
    const orders = [];
    for await (const order of client.allOrders()) orders.push(order);
    expect(orders).toMatchObject([{ reservation_id: id, status: 'paid' }]);
  });

  test('a red packet: granted without a payment, and the award in the message', async () => {
    const { client, heard } = await clientOf(shop.user());
    const last: Package.PurchaseState[] = [];
    for await (const state of client.buy(packet)) last.splice(0, 1, state);
    expect(last).toMatchObject([{ status: 'granted', award: { kind: 'amount', amount_minor: 500, currency: 'EUR' } }]);
    for (const message of heard) expect(messageErrors(message), JSON.stringify(message)).toEqual([]);
  });

  test('an answer that gets lost: the same key, one reservation', async () => {
    let lost = 0;
    const lossy = async (request: Request) => {
      const answer = await fetch(request);
      if (!request.url.includes('/reservations/') || request.method !== 'POST' || lost >= 2) return answer;
      lost += 1;
      throw new TypeError('the connection broke');
    };
    const { client } = await clientOf(shop.user(), { fetch: lossy });
    const purchase = client.buy(lamp);
    const ids = new Set<string>();
    for await (const state of purchase) {
      if ('reservation_id' in state) ids.add(state.reservation_id);
      if (state.status !== 'pending_payment') continue;
      expect(await client.cancel(state.reservation_id)).toMatchObject({ status: 'cancelled' });
    }
    expect(lost).toBe(2);
    expect([...ids]).toHaveLength(1);
    expect((await client.orders()).orders).toMatchObject([{ status: 'cancelled' }]);
  });

  test('two purchases with one key at once are one reservation', async () => {
    const user = shop.user();
    const [one, two] = await Promise.all([clientOf(user), clientOf(user)]);
    const idOf = async ({ client }: typeof one) => {
      for await (const state of client.buy(lamp, { idempotencyKey: 'both' })) {
        if (state.status === 'pending_payment') return state.reservation_id;
      }
      return 'none';
    };
    const [first, second] = await Promise.all([idOf(one), idOf(two)]);
    expect(first).toMatch(/\.1\.[0-9a-f]{32}$/);
    expect(second).toBe(first);
  });

  test('what is refused is a state, what is wrong an error', async () => {
    const { client } = await clientOf(shop.user());
    await shop.steer(packet, 'close');
    const statuses: string[] = [];
    await shop.until(async () => {
      statuses.length = 0;
      for await (const state of client.buy(packet)) statuses.push(state.status === 'refused' ? state.refusal.code : state.status);
      return statuses.at(-1) === 'closed';
    });
    const unknown = client.buy('no-such-sale').next();
    await expect(unknown).rejects.toMatchObject({ name: 'ProblemError', code: 'unknown_sale', status: 404 });
    const { client: stranger } = await clientOf(shop.user(), { getToken: () => 'not-a-token' });
    await expect(stranger.orders()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  });
});
