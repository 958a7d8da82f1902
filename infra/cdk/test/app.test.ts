import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { fakeFunctions, workplace } from './stack.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { context: flags } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
const functions = fakeFunctions();
const out = join(workplace, 'app');

const OUTPUTS = [
  'ApiUrl',
  'ExpiryDlqUrl',
  'ExpiryQueueUrl',
  'OrdersDlqUrl',
  'OrdersQueueUrl',
  'PassSecretArn',
  'PaymentSecretArn',
  'PushUrl',
  'QuarantineQueueUrl',
  'RedisUrl',
  'TableName',
  'WarmupFunctionName',
];

/** Runs the app as the command does, with CDK's own checks of the template. */
function run(folder: string, context: Record<string, string>) {
  const { NODE_ENV, VITEST, ...env } = process.env;
  const outdir = join(out, folder);
  const { status, stderr } = spawnSync('node', ['--import', 'tsx', 'bin/flash-sale.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify({ ...flags, ...context }) },
  });
  return { status, stderr, read: (file: string) => JSON.parse(readFileSync(join(outdir, file), 'utf8')) };
}

describe('the app synthesizes without a warning', () => {
  const CASES: [string, Record<string, string>, boolean][] = [
    ['local', { issuer: 'http://127.0.0.1:4566/identity', audience: 'flash-sale', emulator: 'http://127.0.0.1:4566' }, false],
    ['dev', {}, true],
    ['prod', { issuer: 'https://id.example.com', audience: 'shop', payUrl: 'https://pay.example.com/' }, true],
  ];

  test.each(CASES)('%s', (settings, context, bootstrapped) => {
    const app = run(settings, { settings, functions, ...context });
    expect(app).toMatchObject({ status: 0, stderr: '' });
    expect(app.read('validation-report.json').pluginReports).toEqual([]);
    const template = app.read('FlashSale.template.json');
    expect(Object.keys(template.Outputs)).toEqual(expect.arrayContaining(OUTPUTS));
    expect('CheckBootstrapVersion' in (template.Rules ?? {})).toBe(bootstrapped);
  });
});

describe('a mistake is answered with what to do, not with a stack trace', () => {
  test.each([
    ['no settings', {}, /-c settings=local\|dev\|prod/],
    ['no issuer', { settings: 'prod', functions }, /-c issuer=/],
    ['nothing built', { settings: 'dev', functions: out }, /cargo lambda build --release --arm64/],
  ] as [string, Record<string, string>, RegExp][])('%s', (_, context, message) => {
    const { status, stderr } = run('mistake', context);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('    at ');
  });
});
