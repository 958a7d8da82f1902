// The client, packed and installed as an app would have it, buys on the system at SHOP_URL.

import { type ExecFileException, execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { openShop } from '../../web/test/shop.js';
import { atRoot } from '../bin/files.js';
import type * as Package from '../typescript/src/index.ts';
import { messageErrors } from './messages.ts';

const CLIENTS = atRoot('clients');

function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}) {
  return new Promise<{ status: number; out: string }>((done) => {
    execFile(program, args, { cwd, env: { ...process.env, ...env } }, (error: ExecFileException | null, out, err) => {
      done({ status: error ? Number(error.code ?? 1) : 0, out: out + err });
    });
  });
}

// Without it the helper would start the stand-in of the pages.
if (!process.env['SHOP_URL']) throw new Error('SHOP_URL is not set: run `make test-web`');

describe('on the real system', () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  let lamp: string;
  let packet: string;
  let pushUrl: string;
  let app: string;
  let installed: typeof Package;

  /** An app of its own outside of the checkout, with the packed client and nothing else of it. */
  async function install() {
    app = await mkdtemp(join(tmpdir(), 'client-'));
    const packed = await run('npm', ['pack', '--pack-destination', app], join(CLIENTS, 'typescript'));
    expect(packed).toMatchObject({ status: 0 });
    const [tarball] = await readdir(app);
    await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', type: 'module', private: true }));
    const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', `./${tarball}`];
    expect(await run('npm', args, app)).toMatchObject({ status: 0 });
    const names = (await readdir(join(app, 'node_modules'))).filter((name) => !name.startsWith('.')).sort();
    expect(names).toEqual(['flash-sale-client', 'openapi-fetch', 'openapi-typescript-helpers']);
    await cp(join(CLIENTS, 'typescript/examples/buy.ts'), join(app, 'buy.ts'));
    // Only the types of Node come from here.
    await mkdir(join(app, 'types'));
    await symlink(join(CLIENTS, '../node_modules/@types/node'), join(app, 'types/node'));
    await symlink(join(CLIENTS, '../node_modules/undici-types'), join(app, 'node_modules/undici-types'));
    const checks = { strict: true, noImplicitReturns: true, noFallthroughCasesInSwitch: true, exactOptionalPropertyTypes: true };
    const types = { lib: ['ES2022', 'DOM'], skipLibCheck: false, types: ['node'], typeRoots: ['types'] };
    const config = { compilerOptions: { ...checks, ...types, target: 'ES2022', module: 'NodeNext', rootDir: '.' }, files: ['buy.ts'] };
    await writeFile(join(app, 'tsconfig.json'), JSON.stringify(config));
    expect(await run(join(CLIENTS, '../node_modules/.bin/tsc'), [], app)).toEqual({ status: 0, out: '' });
    installed = await import(join(app, 'node_modules/flash-sale-client/dist/index.js'));
  }

  beforeAll(async () => {
    shop = await openShop();
    const config = await fetch(`${shop.url}/config.json`);
    pushUrl = ((await config.json()) as { push_url: string }).push_url;
    const allocation = { kind: 'split', total_minor: 1_000, min_minor: 1, parts: 'equal' };
    const free = { total: 2, price_minor: 0, settlement: 'free', allocation };
    [lamp, packet] = await Promise.all([shop.sell(), shop.sell(free as object), install()]);
  });
  afterAll(() => rm(app, { recursive: true, force: true }));

  /** A client of the packed package for a user, with every message of push that it hears. */
  async function clientOf(user: string, more: Partial<Package.ClientOptions> = {}) {
    const token = await shop.login(user);
    const heard: unknown[] = [];
    let open = () => {};
    const connected = new Promise<void>((done) => {
      open = done;
    });
    class Socket extends WebSocket {
      constructor(url: string) {
        super(url);
        this.on('open', () => open());
        this.on('message', (data) => heard.push(JSON.parse(String(data))));
      }
    }
    const options = { baseUrl: shop.url, getToken: () => token, pushUrl, WebSocket: Socket as unknown as Package.OpenSocket, ...more };
    return { client: new installed.FlashSaleClient(options), heard, connected };
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
  });

  test('from the challenge to the paid order, told by push', async () => {
    let looks = 0;
    const counted = (request: Request) => {
      looks += request.method === 'GET' ? 1 : 0;
      return fetch(request);
    };
    const { client, heard, connected } = await clientOf(shop.user(), { fetch: counted });
    const states: Package.PurchaseState[] = [];
    const bought = (async () => {
      for await (const state of client.buy(lamp)) states.push(state);
    })();
    const ended = bought.then(() => Promise.reject(new Error(states.map(({ status }) => status).join())));
    const pending = shop.until(async () => states.find(({ status }) => status === 'pending_payment'));
    const { reservation_id } = await Promise.race([pending, ended]);
    ended.catch(() => {});
    await connected;
    // While push is up it asks every half minute, once it has seen what it may have missed.
    let before = -1;
    await shop.until(async () => {
      const settled = before === looks;
      before = looks;
      await sleep(1_000);
      return settled && before === looks;
    });
    expect(await shop.pay({ id: reservation_id })).toBe('applied');
    await bought;
    // News of the order itself may come late, and cause another look.
    expect([1, 2]).toContain(looks - before);
    expect(states.map(({ status }) => status)).toEqual(['challenged', 'admitted', 'queued', 'pending_payment', 'paid']);
    expect(heard.at(-1)).toEqual({ type: 'reservation', reservation_id, status: 'paid' });
    for (const message of heard) expect(messageErrors(message), JSON.stringify(message)).toEqual([]);
    const orders = [];
    for await (const order of client.allOrders()) orders.push(order);
    expect(orders).toMatchObject([{ reservation_id, status: 'paid' }]);
  });

  test('a red packet: granted without a payment, and the award in the message', async () => {
    const user = shop.user();
    const { client } = await clientOf(user);
    // A connection that outlives the purchase.
    const messages: unknown[] = [];
    const socket = new WebSocket(`${pushUrl}?token=${await shop.login(user)}`);
    socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    try {
      await once(socket, 'open');
      const states: Package.PurchaseState[] = [];
      for await (const state of client.buy(packet)) states.push(state);
      const award = { kind: 'amount', amount_minor: 500, currency: 'EUR' };
      expect(states.at(-1)).toMatchObject({ status: 'granted', award });
      await shop.until(async () => messages.length > 0);
      expect(messages[0]).toMatchObject({ status: 'granted', award });
      for (const message of messages) expect(messageErrors(message), JSON.stringify(message)).toEqual([]);
    } finally {
      socket.close();
    }
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
    const ids = new Set<string>();
    for await (const state of client.buy(lamp)) {
      if ('reservation_id' in state) ids.add(state.reservation_id);
      if (state.status !== 'pending_payment') continue;
      expect(await client.cancel(state.reservation_id)).toMatchObject({ status: 'cancelled' });
    }
    expect(lost).toBe(2);
    expect(ids.size).toBe(1);
    const [reservation_id] = ids;
    expect((await client.orders()).orders).toMatchObject([{ status: 'cancelled' }]);
    expect(await client.reservations(lamp)).toMatchObject({ sale_id: lamp, reservations: [{ reservation_id, status: 'cancelled' }] });
  });

  test('what is refused is a state, what is wrong an error', async () => {
    const { client } = await clientOf(shop.user());
    await shop.update(packet, 'close');
    await shop.until(async () => {
      let last: string | undefined;
      for await (const state of client.buy(packet)) last = state.status === 'refused' ? state.refusal.code : state.status;
      return last === 'closed';
    });
    const unknown = client.buy('no-such-sale').next();
    await expect(unknown).rejects.toMatchObject({ name: 'ProblemError', code: 'unknown_sale', status: 404 });
    const { client: stranger } = await clientOf(shop.user(), { getToken: () => 'not-a-token' });
    await expect(stranger.orders()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  });
});
