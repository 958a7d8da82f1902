// The API reference, which `make docs` makes from openapi.yaml.

import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { launchOptions } from '../bin/chromium.js';
import { atRoot, writeAll } from '../bin/files.js';
import { reference } from '../bin/reference.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

const api = parse(await readFile(atRoot('openapi.yaml'), 'utf8'), { merge: true });
const operations = Object.entries<Record<string, { operationId: string; summary: string }>>(api.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })),
);

beforeAll(async () => writeAll(await reference()));

test('the page names no other place', async () => {
  const page = await readFile(atRoot('docs/api/index.html'), 'utf8');
  const [head] = page.split('<script>') as [string];
  expect(head).not.toMatch(/https?:/);
  expect([...head.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, place]) => place)).toEqual(['redoc.standalone.js']);
});

describe('in a browser without a network', () => {
  test('every operation is there, nothing else is loaded, nothing fails', async () => {
    const browser = await chromium.launch(await launchOptions());
    try {
      const context = await browser.newContext({ offline: true, viewport: { width: 1400, height: 900 } });
      const page = await context.newPage();
      const complaints: string[] = [];
      const loaded: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => loaded.push(request.url()));
      const address = pathToFileURL(atRoot('docs/api/index.html')).href;
      await page.goto(address);
      await page.locator('[data-section-id="tag/operating"]').first().waitFor({ state: 'attached' });
      for (const { operationId, summary } of operations) {
        const section = page.locator(`[id$="operation/${operationId}"]`).first();
        await section.waitFor({ state: 'attached' });
        expect(await section.textContent(), operationId).toContain(summary);
      }
      expect(operations.length).toBeGreaterThan(30);
      const bundle = new URL('redoc.standalone.js', address).href;
      expect(loaded.filter((url) => !/^(?:blob|data):/.test(url))).toEqual([address, bundle]);
      expect(complaints).toEqual([]);
      const search = page.getByPlaceholder('Search...');
      await search.fill('isolate');
      await page.locator('[data-role="search:results"]').getByText('Limit how many requests a second').waitFor();
    } finally {
      await browser.close();
    }
  });
});
