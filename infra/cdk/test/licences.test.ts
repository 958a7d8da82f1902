import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { fakeFunctionsIn } from '../bin/examples.ts';
import { problems, RULE, rustVersion, shippedCrates, THIRD_PARTY } from '../deploy/licences.ts';
import { ROOT } from '../deploy/paths.ts';
import { archives, licenseBuilt } from '../deploy/steps.ts';
import { writeLicences } from '../deploy/write-licences.ts';

writeLicences();
const FILE = readFileSync(join(ROOT, THIRD_PARTY), 'utf8');
const shipped = shippedCrates();
const rust = rustVersion();

test('the licences of every crate in a function are in the file, and no others', () => {
  // Only libraries of the functions, not tools for tests or local use.
  for (const name of ['tokio', 'redis', 'ring', 'aws-sdk-dynamodb']) expect(shipped.some((crate) => crate.startsWith(`${name} `))).toBe(true);
  for (const name of ['stateright', 'proptest', 'indicatif', 'syn']) expect(shipped.some((crate) => crate.startsWith(`${name} `))).toBe(false);
  expect(problems(FILE, shipped, rust)).toEqual([]);
});

test('missing crates, crates without a text, removed crates and another version of Rust are reported', () => {
  const ring = shipped.find((crate) => crate.startsWith('ring '))!;
  expect(problems(FILE.replace(`\n${ring}: `, '\nring 0.0.1: '), shipped, rust)).toEqual([
    `${ring} is compiled into a function but not listed`,
    'ring 0.0.1 is listed but in no function',
  ]);
  const withoutText = FILE.split(RULE).filter((part) => !(part.startsWith('\n\nText ') && part.includes(ring)));
  expect(problems(withoutText.join(RULE), shipped, rust)).toContain(`${ring} is listed without the text of its licence`);
  expect(problems(FILE, [...shipped, 'left-pad 1.3.0'], rust)).toEqual(['left-pad 1.3.0 is compiled into a function but not listed']);
  expect(problems(FILE, shipped, '1.94.0')).toEqual(['the standard library of Rust 1.94.0 is missing']);
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
