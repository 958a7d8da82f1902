import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { APP } from '../deploy/paths.ts';
import dev from '../deployments/dev.ts';
import example from '../deployments/example.ts';
import type { Deployment } from '../lib/deployment.ts';
import { elfHeader } from '../lib/function-assets.ts';
import { FUNCTION_NAMES, type FunctionName } from '../lib/functions.ts';
import type { Architecture } from '../lib/settings.ts';

/** Far longer than a synthesis takes, on a busy machine. */
const LIMIT_MS = 300_000;

/** A shop without its own zone, so that CloudFront gives it a name. */
const SHOP: Deployment = (({ domain, ...rest }) => rest)(example as Deployment);

/** The deployments whose templates are checked. */
export const DEPLOYMENTS: Record<'dev' | 'prod' | 'edge' | 'parked' | 'qualified', Deployment> = {
  dev,
  prod: SHOP,
  // With a new certificate and records, and four shards for a sale with lanes.
  edge: { ...example, shards: 4 },
  parked: { ...SHOP, profile: 'parked', provisioned: [] },
  qualified: { ...SHOP, qualifier: 'shop1' },
};

/** Writes a fake program, with the header for `architecture`, where each built function would be. */
export function fakeFunctionsIn(root: string, architecture: Architecture, names: readonly FunctionName[] = FUNCTION_NAMES): void {
  for (const name of names) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'bootstrap'), Buffer.concat([elfHeader(architecture), Buffer.from(name)]));
    chmodSync(join(root, name, 'bootstrap'), 0o755);
  }
}

/** Writes one file of each kind where the built pages would be. */
export function fakePagesIn(root: string): void {
  for (const file of ['index.html', 'operators.html', 'assets/index-B00.js', 'art/lamp.svg']) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), file);
  }
}

/** What a synthesis for AWS takes instead of what is built: fake functions and pages, and the examples as deployments. */
export function fakesIn(folder: string): { functions: string; pages: string; deployments: string } {
  const [functions, pages, deployments] = ['functions', 'pages', 'deployments'].map((name) => join(folder, name)) as [string, string, string];
  fakeFunctionsIn(functions, 'arm64');
  fakePagesIn(pages);
  mkdirSync(deployments, { recursive: true });
  for (const [name, deployment] of Object.entries(DEPLOYMENTS)) {
    writeFileSync(join(deployments, `${name}.ts`), `export default ${JSON.stringify(deployment, null, 2)};\n`);
  }
  return { functions, pages, deployments };
}

/** Synthesizes the app like the command, with all of its checks; optionally without CDK's own template check, which takes most of
 * the time. */
export function synthesize(
  outdir: string,
  context: Record<string, string>,
  { withTemplateCheck = true } = {},
): { status: number | null; stderr: string } {
  const { NODE_ENV, VITEST, CDK_VALIDATION, ...env } = process.env;
  const { status, stderr } = spawnSync('node', ['--import', './typescript.js', 'bin/flash-sale.ts'], {
    cwd: APP,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
    env: { ...env, ...(withTemplateCheck ? {} : { CDK_VALIDATION: 'false' }), CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) },
  });
  return { status, stderr };
}
