import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { fakeFunctionsIn } from '../bin/examples.ts';
import { shippedCrates, THIRD_PARTY, writeLicences } from '../deploy/licences.ts';
import { archives, licenseBuilt } from '../deploy/steps.ts';
import { read } from '../openapi/files.js';

writeLicences();
const FILE = read(THIRD_PARTY);
const shipped = shippedCrates();

test('the licences of every crate in a function are in the file, and no others', () => {
  // Only libraries of the functions, not tools for tests or local use.
  for (const name of ['tokio', 'redis', 'ring', 'aws-sdk-dynamodb']) expect(shipped.some((crate) => crate.startsWith(`${name} `))).toBe(true);
  for (const name of ['stateright', 'proptest', 'indicatif', 'syn']) expect(shipped.some((crate) => crate.startsWith(`${name} `))).toBe(false);
  const listed = FILE.match(/^Crates\n\n((?:.+\n)+)/m)![1]!.trim().split('\n').map((line) => line.split(': ')[0]);
  expect(listed.sort()).toEqual(shipped);
  const licensed = [...FILE.matchAll(/^Text \d+: .*\nof (.*)$/gm)].flatMap(([, of]) => of!.split(', '));
  expect([...new Set(licensed)].sort()).toEqual(shipped);
  expect(FILE).toMatch(/^The standard library of Rust \d/m);
});

test('an archive for other tools contains the licences beside the program', () => {
  const built = mkdtempSync(join(inject('workplace'), 'built-'));
  const to = join(built, 'archives');
  fakeFunctionsIn(built, 'arm64', ['order']);
  licenseBuilt(built);
  archives(to, built);
  const list = spawnSync('python3', ['-m', 'zipfile', '-l', join(to, 'order.zip')], { encoding: 'utf8' }).stdout;
  const files = list.trim().split('\n').slice(1).map((line) => line.split(/\s+/)[0]);
  expect(files).toEqual(['bootstrap', 'LICENSE', THIRD_PARTY]);
});
