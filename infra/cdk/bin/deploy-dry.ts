// Does everything for each built function that `cargo lambda deploy` does, except the upload. Needs `make build` and no network.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LICENCE_FILES, writeLicences } from '../deploy/licences.ts';
import { ROOT } from '../deploy/paths.ts';
import { FUNCTIONS, FUNCTION_NAMES, type FunctionName } from '../lib/functions.ts';
import { fakesIn, synthesize } from './examples.ts';

const CARGO_LAMBDA = join(ROOT, 'tools/.venv/bin/cargo-lambda');
const DEPLOYED = 'flash-sale';

const work = mkdtempSync(join(tmpdir(), 'flash-sale-dry-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
const { status, stderr } = synthesize(join(work, 'out'), { env: 'prod', ...fakesIn(work) });
if (status !== 0) throw new Error(`prod could not be synthesized:\n${stderr}`);
const { Resources } = JSON.parse(readFileSync(join(work, 'out/FlashSale.template.json'), 'utf8'));

/** The function's variables, with placeholders for what only AWS knows. */
function variablesOf(name: FunctionName): Record<string, string> {
  const found: any = Object.values(Resources).find((each: any) => each.Properties?.FunctionName === `${DEPLOYED}-${name}`);
  const variables: [string, unknown][] = Object.entries(found.Properties.Environment.Variables);
  return Object.fromEntries(variables.map(([key, value]) => [key, typeof value === 'string' ? value : 'known-on-aws']));
}

writeLicences();
for (const name of FUNCTION_NAMES) {
  const variables = variablesOf(name);
  const file = join(work, `${name}.env`);
  writeFileSync(file, Object.entries(variables).map(([key, value]) => `${key}=${value}\n`).join(''));
  const args = ['lambda', 'deploy', `${DEPLOYED}-${name}`, '--dry', '--output-format', 'json'];
  args.push('--binary-name', name, '--lambda-dir', join(ROOT, 'target/lambda'), '--env-file', file);
  for (const file of LICENCE_FILES) args.push('--include', file);
  args.push('--role', `arn:aws:iam::123456789012:role/${name}`, '--timeout', String(FUNCTIONS[name].timeout_s));
  const { status, stdout, stderr, error } = spawnSync(CARGO_LAMBDA, args, { cwd: ROOT, encoding: 'utf8' });
  if (error !== undefined)
    throw new Error(`${CARGO_LAMBDA} does not start; \`./flash install\` installs it: ${error.message}`);
  if (status !== 0) throw new Error(`${name} cannot be deployed:\n${stderr}`);
  // A progress bar precedes it.
  const { kind, files, arch, config } = JSON.parse(stdout.slice(stdout.indexOf('{')));
  if (kind !== 'function' || !['bootstrap', ...LICENCE_FILES].every((file) => files.includes(file)) || config.env_file !== file) {
    throw new Error(`${name} would be deployed differently:\n${stdout}`);
  }
  console.log(`${DEPLOYED}-${name}\t${arch}\t${Object.keys(variables).length} variables`);
}
