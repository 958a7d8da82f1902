import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { ServerClock } from '../js/clock.js';
import { EARLY_MS, REFRESH_EARLY_MS, REFRESH_MS, REFRESH_SOON_MS, jittered } from '../js/timing.js';
import { leadingZeros, message, sha256 } from '../js/sha256.js';
import { en } from '../words/en.js';
import { operators } from '../words/operators.js';
import { zh } from '../words/zh.js';
import { routes } from './dev/routes.js';
import { bundled } from './dev/vendor.js';
import { Sales } from './dev/sales.js';
import { Users } from './dev/users.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What a visitor of the shop loads at most, compressed. */
const SHOP_BYTES = 64_000;
/** What is loaded when somebody needs it: the proof of work, and the check of a draw. */
const LATER = /-worker\.js$|sha256|^js\/draw\.js$|^js\/drand|noble|verify/;
/** What the check of a draw loads on top of that. */
const CHECK = /^js\/draw\b|^js\/draw-|verify/;
const CHECK_BYTES = 10_000;
/** What is loaded on top of that for a draw with a beacon: the curve that drand signs on. */
const BEACON = /^js\/drand|noble/;
const BEACON_BYTES = 28_000;

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const files = (folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));

/** Everything that a page can come to load: what its files name, and what those name. */
function reachable(start) {
  const found = new Set();
  const follow = (path) => {
    if (found.has(path)) return;
    found.add(path);
    const text = read(path);
    const named = [...text.matchAll(/(?:from |import |import\(|new URL\(|href="|src="|src: ')'?([./][\w./-]+\.(?:js|css|svg))/g)].map((match) => match[1]);
    for (const name of named) follow(name.startsWith('/') ? name.slice(1) : join(path, '..', name));
  };
  follow(start);
  return [...found];
}

const openapi = parse(read('../openapi.yaml'));

describe('words', () => {
  const codes = Object.values(openapi.components.schemas).flatMap(({ properties }) => properties?.code?.const ?? []);

  test('both languages have the same words, with the same blanks', () => {
    const blanks = (text) => [...text.matchAll(/\{\w+\}/g)].map((match) => match[0]).sort();
    for (const [one, other] of [[en, zh], [operators.en, operators.zh]]) {
      expect(Object.keys(other).sort()).toEqual(Object.keys(one).sort());
      for (const key of Object.keys(one)) expect([key, blanks(other[key])]).toEqual([key, blanks(one[key])]);
      for (const text of [...Object.values(one), ...Object.values(other)]) expect(text.trim()).not.toBe('');
    }
  });

  test('every problem of the system has words', () => {
    expect(codes.length).toBeGreaterThan(15);
    for (const code of [...codes, 'network']) {
      expect(en).toHaveProperty([`problem.${code}.title`]);
      expect(en).toHaveProperty([`problem.${code}.text`]);
    }
  });

  test('every status and every reason of a failure has words', () => {
    const { ReservationStatus, FailedReservation } = openapi.components.schemas;
    for (const status of ReservationStatus.enum) expect(en).toHaveProperty([`status.${status}`]);
    for (const reason of FailedReservation.properties.reason.enum) expect(en).toHaveProperty([`failed.${reason}`]);
  });

  test('every word that a file asks for is there, and none is left over', () => {
    const code = files('js').filter((path) => !path.includes('operators')).map(read).join('\n');
    const asked = [...code.matchAll(/\bt\('([\w.]+)'/g)].map((match) => match[1]);
    for (const key of asked) expect(en).toHaveProperty([key]);
    const all = { ...en, ...operators.en };
    const theirs = files('js/operators').map(read).join('\n');
    for (const [, key] of theirs.matchAll(/\bt\('([\w.]+)'/g)) expect(all).toHaveProperty([key]);
    const plain = Object.keys(en).filter((key) => !/^(problem|failed|status|state|availability|picture|countdown|wait|paid|expired|cancelled|login|campaign|queued|buy|nav|sale|award)\b/.test(key));
    // Words of a kind of sale stand for those of every sale; see `of` in awards.js.
    const base = (key) => key.replace(/^(?:verify\.)?(?:split|prizes|free)\./, '');
    const unused = plain.filter((key) => !code.includes(`'${key}'`) && !code.includes(`'${base(key)}'`) && !(base(key) in en) &&
      !/\bsold_out\.(title|text)$|^verify\.(split|prizes)\.(unit|won)$/.test(key));
    expect(unused).toEqual([]);
  });
});

test('the stand-in has routes of the system, with the same callers', () => {
  const callers = (path, security = openapi.security) => (security.length === 0 ? 'nobody' : path.startsWith('/v1/admin/') ? 'operator' : 'user');
  const documented = Object.entries(openapi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security }]) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, ':')} by ${callers(path, security)}`));
  const stood = routes(new Sales(), new Users(), () => ({}))
    .filter(({ pattern }) => pattern.source.startsWith('^\\/v1\\/'))
    .map(({ method, pattern, who }) => `${method} ${pattern.source.slice(1, -1).replaceAll('\\/', '/').replaceAll('([^/]+)', ':')} by ${who}`);
  expect(stood.length).toBeGreaterThan(20);
  for (const route of stood) expect(documented).toContain(route);
});

test('the planner knows how often the page looks, and what it loads', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const page = {
    refresh_ms: REFRESH_MS,
    refresh_early_ms: REFRESH_EARLY_MS,
    refresh_soon_ms: REFRESH_SOON_MS,
    early_ms: EARLY_MS,
    spread: jittered(1),
    modules: read('index.html').match(/rel="modulepreload"/g).length,
  };
  random.mockRestore();
  // planner/tests/in_step.rs holds the planner to this file; `npx vitest run -u test/statics.test.js` writes it.
  await expect(`${JSON.stringify(page, null, 2)}\n`).toMatchFileSnapshot('../../planner/tests/page.json');
});

describe('sizes and policy', () => {
  const shop = reachable('index.html').concat(files('art'));

  test('the whole shop is small', () => {
    expect(shop).toContain('js/views/sale.js');
    expect(shop).toContain('js/work-worker.js');
    const size = (paths) => paths.reduce((sum, path) => sum + gzipSync(read(path)).length, 0);
    const gzipped = size(shop.filter((path) => !CHECK.test(path) && !BEACON.test(path)));
    const check = size(shop.filter((path) => CHECK.test(path)));
    const squeezed = shop.reduce((sum, path) => sum + brotliCompressSync(read(path)).length, 0);
    console.log(`shop: ${shop.length} files, ${gzipped} bytes by gzip, ${squeezed} by Brotli`);
    expect(gzipped).toBeLessThan(SHOP_BYTES);
    expect(check).toBeGreaterThan(0);
    expect(check).toBeLessThan(CHECK_BYTES);
    const beacon = size(shop.filter((path) => BEACON.test(path)));
    console.log(`check of a draw: ${check} bytes, of a beacon ${beacon} more`);
    expect(beacon).toBeGreaterThan(20_000);
    expect(beacon).toBeLessThan(BEACON_BYTES);
  });

  test('what the shop needs at once is asked for at once', () => {
    const needed = shop.filter((path) => path.endsWith('.js') && !LATER.test(path)).sort();
    const preloaded = [...read('index.html').matchAll(/modulepreload" href="\/([^"]+)"/g)].map((match) => match[1]).sort();
    expect(preloaded).toEqual(needed);
  });

  test('no file has style or script of its own in the markup, nor comes from elsewhere', () => {
    for (const path of ['index.html', 'operators.html']) {
      const html = read(path);
      expect(html).not.toMatch(/<style|style=|\son\w+=|javascript:/);
      expect(html).not.toMatch(/<script(?![^>]*src=)/);
      expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    }
    for (const path of shop.filter((name) => name.endsWith('.js'))) {
      expect(read(path)).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function/);
    }
  });
});

describe('the library that draws the plot', () => {
  test('is the published one', () => {
    for (const name of ['uPlot.iife.min.js', 'uPlot.min.css']) {
      expect(read(`vendor/${name}`)).toBe(read(`node_modules/uplot/dist/${name}`));
    }
    expect(read('vendor/uPlot.LICENSE')).toBe(read('node_modules/uplot/LICENSE'));
  });
});

test('the library that checks beacons is the published one', async () => {
  expect(read('vendor/noble-bls12-381.js')).toBe(await bundled());
  expect(read('vendor/noble-curves.LICENSE')).toBe(read('node_modules/@noble/curves/LICENSE'));
});

describe('SHA-256', () => {
  test('agrees with another one, also when room is used again', () => {
    for (const id of ['a', '0198f0b2a4c57d1e8f00aabbccddeeff', 'x'.repeat(63)]) {
      const text = message(`${id}:`);
      for (const answer of ['y'.repeat(64), '0', '4294967296', 'z'.repeat(24)]) {
        const hex = Array.from(sha256(text, answer), (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
        expect(hex).toBe(createHash('sha256').update(`${id}:${answer}`).digest('hex'));
      }
    }
  });

  test('knows the proof that the server takes', () => {
    // The same as in shared/pass/src/challenge.rs.
    const digest = sha256(message('00000000000000000000000000000007:'), '2868557');
    expect(leadingZeros(digest)).toBeGreaterThanOrEqual(20);
  });
});

describe('the clock', () => {
  const at = '2026-11-24T09:00:00.000Z';
  const ms = Date.parse(at);

  test('adds half the round trip, and what a cache kept it for', () => {
    let ticks = 0;
    const clock = new ServerClock(() => ticks);
    clock.sample({ sentAt: 1000, heardAt: 1200, serverTime: at });
    ticks = 1200;
    expect(clock.now()).toBe(ms + 100);
    const old = new ServerClock(() => ticks);
    old.sample({ sentAt: 1000, heardAt: 1200, serverTime: at, age: '3' });
    expect(Math.abs(old.now() - (ms + 3_100))).toBeLessThanOrEqual(500);
  });

  test('the smallest round trip wins, and an old one yields', () => {
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

  test('what cannot be read changes nothing', () => {
    const clock = new ServerClock(() => 0);
    clock.sample({ sentAt: 0, heardAt: 1, serverTime: 'soon' });
    expect(clock.known).toBe(false);
  });
});
