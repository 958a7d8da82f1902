import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { ServerClock } from '../js/clock.js';
import { EARLY_MS, REFRESH_EARLY_MS, REFRESH_MS, REFRESH_SOON_MS, jittered } from '../js/timing.js';
import { LICENCES } from '../licences.js';
import { lineWords } from '../words/line.js';
import { operators } from '../words/operators.js';
import { shopWords } from '../words/shop.js';
import { routes } from './dev/routes.js';
import { Sales } from './dev/sales.js';
import { Users } from './dev/users.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The pages built for the tests; see built.js. Those for a real system build none. */
const BUILT = process.env.PAGES ?? join(ROOT, 'dist');
/** Maximum compressed size of what a visitor of the shop loads before anything is visible, and in all. */
const FIRST_BYTES = 60_000;
const SHOP_BYTES = 90_000;
/** The check of a draw loads this in addition, and the curve of drand's signatures if the draw has a beacon. */
const CHECK = /^assets\/(?:verify|draw-worker)-/;
const CHECK_BYTES = 10_000;
const BEACON = /^assets\/drand-/;
const BEACON_BYTES = 28_000;
/** A sale with a line loads this in addition. The check of a draw uses the same digests. */
const LINE = /^assets\/(?:waiting|hash)-/;
const LINE_BYTES = 12_000;

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const files = (folder, root = ROOT) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
const sizes = {};
const squeezed = (path) => (sizes[path] ??= brotliCompressSync(readFileSync(join(BUILT, path))).length);
const sizeOf = (paths) => paths.reduce((sum, path) => sum + squeezed(path), 0);
/** The files that a page's markup names, directly or through other files. */
function built(page) {
  const found = new Set([page]);
  for (const path of found) {
    if (!/\.(?:html|js|css)$/.test(path)) continue;
    const named = readFileSync(join(BUILT, path), 'utf8').matchAll(/(?:assets\/|\.\/)([\w-]+-[\w-]{8}\.\w+)/g);
    for (const [, name] of named) found.add(`assets/${name}`);
  }
  return [...found];
}
/** The files that are always loaded, except `config.json` and one picture. */
function first(page, language) {
  const named = [...readFileSync(join(BUILT, page), 'utf8').matchAll(/"\/(assets\/[^"]+)"/g)].map((match) => match[1]);
  return [page, ...named, ...built(page).filter((path) => path.startsWith(`assets/${language}-`) || path.endsWith('.woff2'))];
}

const api = openapi();

describe('words', () => {
  const { en } = shopWords;
  const codes = Object.values(api.components.schemas).flatMap(({ properties }) => properties?.code?.const ?? []);

  test('both languages have words, with the same placeholders', () => {
    const blanks = (text) => [...text.matchAll(/\{\w+\}/g)].map((match) => match[0]).sort();
    for (const of of [shopWords, operators, lineWords]) {
      for (const key of Object.keys(of.en)) {
        expect([key, blanks(of.zh[key])]).toEqual([key, blanks(of.en[key])]);
        expect([of.en[key].trim(), of.zh[key].trim()]).not.toContain('');
      }
    }
  });

  test('every problem of the system has words', () => {
    expect(codes.length).toBeGreaterThan(15);
    for (const code of [...codes, 'network']) {
      expect(en).toHaveProperty([`problem.${code}.title`]);
      expect(en).toHaveProperty([`problem.${code}.text`]);
    }
  });

  test('every refusal that operators see counted has words', () => {
    const refusals = new Set();
    for (const path of ['challenges', 'tokens', 'reservations/{token}']) {
      const { 403: forbidden, 409: conflict } = api.paths[`/v1/sales/{sale_id}/${path}`].post.responses;
      JSON.stringify([forbidden, conflict], (_, part) => {
        const value = part?.$ref ? part.$ref.slice(2).split('/').reduce((of, name) => of[name], api) : part;
        if (value?.properties?.code?.const) refusals.add(value.properties.code.const);
        return value;
      });
    }
    expect(refusals.size).toBeGreaterThan(8);
    for (const code of refusals) expect(operators.en).toHaveProperty([`op.answer.${code}`]);
  });

  test('every status and every reason for a failure has words', () => {
    const { ReservationStatus, FailedReservation } = api.components.schemas;
    for (const status of ReservationStatus.enum) expect(en).toHaveProperty([`status.${status}`]);
    for (const reason of FailedReservation.properties.reason.enum) expect(en).toHaveProperty([`failed.${reason}`]);
  });

  test('every word that a file uses exists, and none is unused', () => {
    const code = files('js').filter((path) => !path.includes('operators')).map(read).join('\n');
    const asked = [...code.matchAll(/\bt\('([\w.]+)'/g)].map((match) => match[1]);
    const shown = { ...en, ...lineWords.en };
    for (const key of asked) expect(shown).toHaveProperty([key]);
    const all = { ...en, ...operators.en };
    const theirs = files('js/operators').map(read).join('\n');
    for (const [, key] of theirs.matchAll(/\bt\('([\w.]+)'/g)) expect(all).toHaveProperty([key]);
    const plain = Object.keys(shown).filter((key) => !/^(problem|failed|status|state|availability|picture|countdown|wait|paid|expired|cancelled|login|campaign|queued|buy|nav|sale|award)\b/.test(key));
    // Words for a kind of sale replace those for every sale; see `of` in awards.js.
    const base = (key) => key.replace(/^(?:verify\.)?(?:split|prizes|free)\./, '');
    const unused = plain.filter((key) => !code.includes(`'${key}'`) && !code.includes(`'${base(key)}'`) && !(base(key) in en) &&
      !/\bsold_out\.(title|text)$|^verify\.(split|prizes)\.(unit|won)$|^line\.(proof|nth)\./.test(key));
    expect(unused).toEqual([]);
  });
});

test('the stand-in has the system\'s routes, with the same callers', () => {
  const callers = (path, security = api.security) => (security.length === 0 ? 'nobody' : path.startsWith('/v1/admin/') ? 'operator' : 'user');
  const documented = Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security }]) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, ':')} by ${callers(path, security)}`));
  const stood = routes(new Sales(), new Users(), () => ({}))
    .filter(({ pattern }) => pattern.source.startsWith('^\\/v1\\/'))
    .map(({ method, pattern, who }) => `${method} ${pattern.source.slice(1, -1).replaceAll('\\/', '/').replaceAll('([^/]+)', ':')} by ${who}`);
  expect(stood.length).toBeGreaterThan(20);
  for (const route of stood) expect(documented).toContain(route);
});

/** Allowance for the files' headers, `config.json` and a picture. */
const HEADERS_AND_DATA = 6_000;

test('the planner knows how often the page polls, and what it loads', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const page = {
    refresh_ms: REFRESH_MS,
    refresh_early_ms: REFRESH_EARLY_MS,
    refresh_soon_ms: REFRESH_SOON_MS,
    early_ms: EARLY_MS,
    spread: jittered(1),
    files: first('index.html', 'en').length + 2,
    bytes: Math.ceil((sizeOf(first('index.html', 'en')) + HEADERS_AND_DATA) / 5_000) * 5_000,
  };
  random.mockRestore();
  // tools/planner/tests/in_step.rs holds the planner to this file; `npx vitest run -u test/statics.test.js` writes it.
  await expect(`${JSON.stringify(page, null, 2)}\n`).toMatchFileSnapshot('../../tools/planner/tests/page.json');
});

describe('sizes and policy', () => {
  const shop = built('index.html');

  test('the licences of every package in the pages are served beside them', () => {
    const served = readFileSync(join(BUILT, LICENCES), 'utf8');
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    for (const [name, version] of Object.entries(dependencies)) expect(served).toContain(`\n\n${name} ${version} (`);
    // The curves' SHA-2, which draw-worker.js includes through them.
    expect(served).toContain('@noble/hashes');
    for (const name of Object.keys(devDependencies)) expect(served).not.toContain(`\n\n${name} `);
    for (const word of ['SIL OPEN FONT LICENSE', 'Paul Miller', 'Apache License']) expect(served).toContain(word);
  });

  test('the shop is small, and loads few files and one language', () => {
    expect(shop.some((path) => path.startsWith('assets/work-worker'))).toBe(true);
    for (const language of ['en', 'zh']) {
      const at = first('index.html', language);
      console.log(`${language}: ${at.length} files and ${sizeOf(at)} bytes at first`);
      expect(at.length).toBeLessThanOrEqual(5);
      expect(sizeOf(at)).toBeLessThan(FIRST_BYTES);
    }
    const later = shop.filter((path) => [CHECK, BEACON, LINE].some((which) => which.test(path)));
    expect(sizeOf(shop.filter((path) => !later.includes(path)))).toBeLessThan(SHOP_BYTES);
    const [check, beacon, line] = [CHECK, BEACON, LINE].map((which) => sizeOf(shop.filter((path) => which.test(path))));
    console.log(`check of a draw: ${check} bytes, of a beacon ${beacon} more; a line: ${line}`);
    expect(line).toBeGreaterThan(2_000);
    expect(line).toBeLessThan(LINE_BYTES);
    expect(check).toBeGreaterThan(0);
    expect(check).toBeLessThan(CHECK_BYTES);
    expect(beacon).toBeGreaterThan(20_000);
    expect(beacon).toBeLessThan(BEACON_BYTES);
  });

  test('files that are cached for good have names with a digest', () => {
    for (const path of files('assets', BUILT)) expect(path).toMatch(/-[\w-]{8}\.(?:js|css|woff2)$/);
    const others = files('', BUILT).filter((path) => !path.startsWith('assets/')).sort();
    expect(others.filter((path) => !path.startsWith('art/'))).toEqual(['index.html', 'licenses.txt', 'operators.html']);
  });

  test('no markup has inline styles or scripts, or loads anything from elsewhere', () => {
    for (const path of ['index.html', 'operators.html']) {
      for (const html of [read(path), readFileSync(join(BUILT, path), 'utf8')]) {
        expect(html).not.toMatch(/<style|style=|\son\w+=|javascript:/);
        expect(html).not.toMatch(/<script(?![^>]*src=)/);
        expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
      }
    }
    for (const path of files('js')) {
      expect(read(path)).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function/);
    }
  });
});

describe('the clock', () => {
  const at = '2026-11-24T09:00:00.000Z';
  const ms = Date.parse(at);

  test('adds half the round trip, and the time in a cache', () => {
    let ticks = 0;
    const clock = new ServerClock(() => ticks);
    clock.sample({ sentAt: 1000, heardAt: 1200, serverTime: at });
    ticks = 1200;
    expect(clock.now()).toBe(ms + 100);
    const old = new ServerClock(() => ticks);
    old.sample({ sentAt: 1000, heardAt: 1200, serverTime: at, age: '3' });
    expect(Math.abs(old.now() - (ms + 3_100))).toBeLessThanOrEqual(500);
  });

  test('the smallest round trip wins, until it is old', () => {
    const clock = new ServerClock(() => 0);
    clock.sample({ sentAt: 0, heardAt: 100, serverTime: at });
    const sure = clock.now();
    clock.sample({ sentAt: 200, heardAt: 900, serverTime: at });
    clock.sample({ sentAt: 1000, heardAt: 1010, serverTime: at, age: '1' });
    expect(clock.now()).toBe(sure);
    clock.sample({ sentAt: 2000, heardAt: 2050, serverTime: at });
    expect(clock.now()).not.toBe(sure);
    const better = clock.now();
    clock.sample({ sentAt: 900_000, heardAt: 900_400, serverTime: at });
    expect(clock.now()).not.toBe(better);
  });

  test('unreadable times change nothing', () => {
    const clock = new ServerClock(() => 0);
    clock.sample({ sentAt: 0, heardAt: 1, serverTime: 'soon' });
    expect(clock.now()).toBe(performance.timeOrigin);
  });
});
