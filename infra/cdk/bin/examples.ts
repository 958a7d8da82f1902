import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { elfHeader } from '../lib/elf.ts';
import { FUNCTION_NAMES, type FunctionName } from '../lib/functions.ts';
import type { Architecture } from '../lib/settings.ts';

/** The CDK app's folder. */
export const APP = fileURLToPath(new URL('..', import.meta.url));

/** What somebody who deploys to AWS gives on the command line. */
export const EXAMPLES: Record<'dev' | 'prod', Record<string, string>> = {
  dev: { settings: 'dev' },
  prod: {
    settings: 'prod',
    issuer: 'https://id.example.com',
    audience: 'shop',
    payUrl: 'https://pay.example.com/',
    contactUrl: 'mailto:help@example.com',
    webhookUrl: 'https://shop.example.com/events',
    provisioned: '2099-12-01T17:45:00Z/2099-12-01T18:30:00Z/200',
  },
};

/** Puts the header of a program for `architecture` where each built function would be. */
export function fakeFunctionsIn(
  root: string,
  architecture: Architecture,
  names: readonly FunctionName[] = FUNCTION_NAMES,
): void {
  for (const name of names) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'bootstrap'), Buffer.concat([elfHeader(architecture), Buffer.from(name)]));
    chmodSync(join(root, name, 'bootstrap'), 0o755);
  }
}

/** Puts one file of each kind where the built pages would be. */
export function fakePagesIn(root: string): void {
  for (const file of ['index.html', 'operators.html', 'assets/index-B00.js', 'art/lamp.svg']) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), file);
  }
}

/** Runs the app as the command does, with all of its checks. */
export function synthesize(outdir: string, context: Record<string, string>): { status: number | null; stderr: string } {
  const { context: flags } = JSON.parse(readFileSync(join(APP, 'cdk.json'), 'utf8'));
  const { NODE_ENV, VITEST, ...env } = process.env;
  const { status, stderr } = spawnSync('node', ['--import', 'tsx', 'bin/flash-sale.ts'], {
    cwd: APP,
    encoding: 'utf8',
    env: { ...env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify({ ...flags, ...context }) },
  });
  return { status, stderr };
}
