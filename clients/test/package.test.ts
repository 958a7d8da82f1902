// What `npm pack` makes of the client. That it can be installed and buys is in real.test.ts.

import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { atRoot } from '../bin/files.js';

test('the package has what an app needs, and nothing else', async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--workspace', 'typescript'];
  const packed = JSON.parse(execFileSync('npm', args, { cwd: atRoot('clients'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  // A list, or by name: versions of npm differ.
  const [{ files, unpackedSize }] = Object.values(packed) as [{ files: { path: string }[]; unpackedSize: number }];
  const names = files.map(({ path }) => path).sort();
  expect(names.filter((name) => !name.startsWith('dist/'))).toEqual(['LICENSE', 'README.md', 'package.json']);
  for (const name of ['dist/index.js', 'dist/index.d.ts', 'dist/worker.js', 'dist/worker.d.ts']) expect(names).toContain(name);
  expect(names.filter((name) => !/\.(?:js|d\.ts)$/.test(name) && name.startsWith('dist/'))).toEqual([]);
  expect(unpackedSize).toBeLessThan(400_000);
  const { dependencies, license } = JSON.parse(await readFile(atRoot('clients/typescript/package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['openapi-fetch']);
  expect(license).toBe('Apache-2.0');
  expect(await readFile(atRoot('clients/typescript/LICENSE'), 'utf8')).toBe(await readFile(atRoot('LICENSE'), 'utf8'));
});
