// The API reference, which `make docs` makes.

import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { launchOptions } from '../bin/chromium.js';
import { atRoot, writeAll } from '../bin/files.js';
import { reference } from '../bin/reference.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

const operations = Object.entries<Record<string, { operationId: string; summary: string }>>(openapi().paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })),
);

beforeAll(async () => writeAll(await reference()));

test('the page names no other place', async () => {
  const page = await readFile(atRoot('docs/api/index.html'), 'utf8');
  const [head] = page.split('<script>') as [string];
  expect(head).not.toMatch(/https?:/);
  expect([...head.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, place]) => place)).toEqual(['swagger-ui.css', 'swagger-ui-bundle.js']);
});

test('in a browser without a network every operation is there, nothing else is loaded, nothing fails', async () => {
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
    await page.locator('[id^="operations-operating"]').first().waitFor();
    for (const { operationId, path, method, summary } of operations) {
      const shown = await page.locator(`.opblock[id$="-${operationId}"]`).textContent();
      expect(shown?.replaceAll('\u200b', ''), operationId).toContain(`${method.toUpperCase()}${path}${summary}`);
    }
    expect(operations.length).toBeGreaterThan(30);
    await page.getByPlaceholder('Search').fill('how many requests a second');
    await page.locator('.opblock').nth(1).waitFor({ state: 'detached' });
    await page.getByText('Limit how many requests a second').click();
    // What it refers to is there as well.
    for (const text of ['What every problem has', 'requests_per_s', "The sale's id."]) await page.getByText(text).first().waitFor();
    const files = ['swagger-ui.css', 'swagger-ui-bundle.js'].map((name) => new URL(name, address).href);
    expect(loaded.filter((url) => !/^(?:blob|data):/.test(url))).toEqual([address, ...files]);
    expect(complaints).toEqual([]);
    expect(await page.locator('.errors-wrapper').count()).toBe(0);
  } finally {
    await browser.close();
  }
});
