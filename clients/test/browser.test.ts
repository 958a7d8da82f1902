// The built client in a browser, with the proof of work in a Web Worker.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { launchOptions } from '../bin/chromium.js';
import { atRoot } from '../bin/files.js';

const BITS = 14;
const ID = 'lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff';
const CHALLENGE = '0198f0b2a4c57d1e8f00aabbccddeeff';
const PASS = 'A'.repeat(63);
const AT = '2099-01-01T00:00:00Z';
const OPENAPI_FETCH = new URL(import.meta.resolve('openapi-fetch'));

const PAGE = `<!doctype html><script type="importmap">
{ "imports": { "openapi-fetch": "/openapi-fetch.mjs", "flash-sale-client": "/dist/index.js" } }
</script><script type="module">
import { FlashSaleClient, workerSolver } from 'flash-sale-client';
const solver = workerSolver(() => new Worker('/dist/worker.js', { type: 'module' }));
const client = new FlashSaleClient({ baseUrl: location.origin, getToken: () => 'token', solver });
window.bought = (async () => {
  const states = [];
  for await (const state of client.buy('lamp')) states.push(state.status);
  return states;
})();
</script>`;

test('it buys in a browser', async () => {
  const right: boolean[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const end = (status: number, type: string, content: string) => response.writeHead(status, { 'content-type': type }).end(content);
    const json = (status: number, value: object) => end(status, 'application/json', JSON.stringify(value));
    const path = request.url as string;
    if (path === '/') return end(200, 'text/html', PAGE);
    if (path.startsWith('/dist/')) return end(200, 'text/javascript', await readFile(atRoot(`clients/typescript${path}`), 'utf8'));
    if (path === '/openapi-fetch.mjs') return end(200, 'text/javascript', await readFile(OPENAPI_FETCH, 'utf8'));
    if (path.endsWith('/challenges')) {
      return json(201, { challenge_id: CHALLENGE, kind: 'work', kinds: ['picture', 'work'], work: { bits: BITS }, expires_at: AT });
    }
    if (path.endsWith('/tokens')) {
      const proof = `${CHALLENGE}:${JSON.parse(body).answer}`;
      const digest = createHash('sha256').update(proof).digest();
      right.push(Math.clz32(digest.readUInt32BE()) >= BITS);
      return json(201, { token: PASS, expires_at: AT, reserve_path: `/v1/sales/lamp/reservations/${PASS}` });
    }
    if (request.method === 'POST') return json(202, { reservation_id: ID, status: 'queued' });
    if (path.startsWith('/v1/')) return json(200, { reservation_id: ID, status: 'paid', unit: 1, reserved_at: AT, ended_at: AT });
    return end(404, 'text/plain', path);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await chromium.launch(await launchOptions());
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const bought = await page.evaluate(() => (globalThis as unknown as { bought: Promise<string[]> }).bought);
    expect(bought).toEqual(['challenged', 'admitted', 'queued', 'paid']);
    expect(right).toEqual([true]);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
});
