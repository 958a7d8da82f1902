// Checks the templates of every example with cfn-lint, which it installs into a virtual environment beside the app, and two of
// them with CDK's own check. What has passed is not checked again until something changes that the templates, or the checks,
// come from.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { APP, ROOT } from '../deploy/paths.ts';
import { local } from '../settings/local.ts';
import { DEPLOYMENTS, fakeFunctionsIn, fakesIn, synthesize } from './examples.ts';

const VENV = join(APP, '.venv');
const REQUIREMENTS = join(APP, 'requirements.txt');
/** The state of the checkout that passed last. */
const PASSED = join(ROOT, 'target/cdk/linted');

/** A digest of all that the templates and their check come from. */
function state(): string {
  const digest = createHash('sha256').update(process.version);
  const inputs = ['bin', 'deployments', 'edge', 'lib', 'openapi', 'settings'].flatMap((folder) =>
    readdirSync(join(APP, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const own = ['.cfnlintrc', 'cdk.json', 'deploy/paths.ts', 'package.json', 'tsconfig.json', 'typescript.js'].map((name) => join(APP, name));
  for (const file of [...inputs.sort(), ...own, REQUIREMENTS, ...['api.yaml', 'package-lock.json'].map((name) => join(ROOT, name))]) {
    const content = readFileSync(file);
    digest.update(`${file} ${content.length} `).update(content);
  }
  return digest.digest('hex');
}

function run(program: string, args: string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: APP, stdio: 'inherit' });
  if (error !== undefined) throw new Error(`${program} is required but does not start: ${error.message}`);
  if (status !== 0) process.exit(1);
}

const now = state();
if (existsSync(PASSED) && readFileSync(PASSED, 'utf8') === now) {
  console.log('cfn-lint: nothing has changed since the templates passed');
  process.exit(0);
}

run(join(ROOT, 'tools/venv.sh'), [VENV, REQUIREMENTS]);
const work = mkdtempSync(join(tmpdir(), 'flash-sale-lint-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
const fakes = fakesIn(work);
const functionsForHere = join(work, 'functions-for-here');
fakeFunctionsIn(functionsForHere, local.architecture);

/** Synthesizes without a warning. Rules of AWS Solutions that are violated are reported there. */
function synthesized(name: string, context: Record<string, string>, withTemplateCheck: boolean): string {
  const out = join(work, name);
  const { status, stderr } = synthesize(out, context, { withTemplateCheck });
  if (status !== 0 || stderr !== '') throw new Error(`${name} could not be synthesized cleanly:\n${stderr}`);
  if (withTemplateCheck) {
    const { pluginReports } = JSON.parse(readFileSync(join(out, 'validation-report.json'), 'utf8'));
    const violations = pluginReports.flatMap((report: { violations: unknown[] }) => report.violations);
    if (violations.length > 0) throw new Error(`CDK finds in ${name}:\n${JSON.stringify(violations, null, 2)}`);
  }
  return out;
}

// The largest of the deployments, and this machine's. The check takes most of the time.
const emulator = 'http://127.0.0.1:4566';
synthesized('local', { settings: 'local', issuer: `${emulator}/identity`, audience: 'flash-sale', emulator, functions: functionsForHere }, true);
const templates = Object.keys(DEPLOYMENTS).flatMap((name) => {
  const out = synthesized(name, { env: name, ...fakes }, name === 'edge');
  return readdirSync(out).filter((file) => file.endsWith('.template.json')).map((file) => join(out, file));
});
run(join(VENV, 'bin/cfn-lint'), templates);
mkdirSync(dirname(PASSED), { recursive: true });
writeFileSync(PASSED, now);
