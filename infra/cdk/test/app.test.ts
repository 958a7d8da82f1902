import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakesIn, LOCAL_CONTEXT, synthesize } from '../bin/examples.ts';
import { FUNCTION_NAMES } from '../lib/functions.ts';
import { local } from '../settings/local.ts';
import { fakeFunctions, workplace } from './stack.ts';

const functionsForHere = fakeFunctions(FUNCTION_NAMES, local.architecture);
const out = join(workplace, 'app');
const fakes = fakesIn(join(workplace, 'fakes'));

function run(folder: string, context: Record<string, string>) {
  const outdir = join(out, folder);
  return { ...synthesize(outdir, context, { withTemplateCheck: false }), read: (file: string) => JSON.parse(readFileSync(join(outdir, file), 'utf8')) };
}

describe('the app synthesizes without a warning', () => {
  const CASES: [string, Record<string, string>, boolean][] = [
    ['local', { ...LOCAL_CONTEXT, functions: functionsForHere }, false],
    // `npm run lint` synthesizes the others as well, and runs CDK's own check.
    ['edge', { env: 'edge', ...fakes }, true],
  ];

  test.each(CASES)('%s', (name, context, bootstrapped) => {
    const app = run(name, context);
    expect(app).toMatchObject({ status: 0, stderr: '' });
    const template = app.read('FlashSale.template.json');
    expect('CheckBootstrapVersion' in (template.Rules ?? {})).toBe(bootstrapped);
  });
});

// Which mistakes get which instructions is in deployment.test.ts and functions.test.ts.
test('a mistake gets instructions instead of a stack trace', () => {
  const { status, stderr } = run('mistake', { env: 'dev', functions: fakeFunctions(FUNCTION_NAMES, 'x86_64') });
  expect(status).toBe(1);
  expect(stderr).toMatch(/is built for x86_64 .*\.\/flash build-aws/);
  expect(stderr).not.toContain('    at ');
});
