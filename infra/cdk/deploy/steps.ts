import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Occasion, PlannedSale } from '../lib/deployment.ts';
import { FUNCTION_NAMES } from '../lib/functions.ts';
import { UsageError } from '../lib/settings.ts';
import { LICENCE_FILES, writeLicences } from './licences.ts';
import { APP, ROOT } from './paths.ts';

/** Separate from `target/lambda`, which has the functions for this machine. */
export const BUILT = join(ROOT, 'target/aws');
const CDK = join(ROOT, 'node_modules/aws-cdk/bin/cdk');
const TARGET = 'aarch64-unknown-linux-gnu';

export const say = (line: string): void => console.error(line);

/** Asks for a word. Without a terminal nobody can answer, so `--yes` does. */
export async function agreed(word: string, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY) {
    say(`There is no terminal to ask on: --yes confirms.`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Type "${word}" to continue: `);
  terminal.close();
  return answer.trim() === word;
}

function run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv; quiet?: boolean } = {}): SpawnSyncReturns<string> {
  const { cwd = ROOT, env = process.env, quiet = false } = options;
  const done = spawnSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', quiet ? 'pipe' : 2, quiet ? 'pipe' : 2] });
  if (done.error !== undefined) throw new UsageError(`${program} does not start: ${done.error.message}`);
  return done;
}

function must(what: string, program: string, args: string[], options: Parameters<typeof run>[2] = {}): string {
  const { status, stdout, stderr } = run(program, args, options);
  if (status !== 0) throw new UsageError(`${what} failed${options.quiet ? `:\n${stderr}` : '; see its output above'}`);
  return stdout ?? '';
}

const found = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** What the build needs, with how to install it. */
const TOOLS = {
  cargo: "cargo: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
  rustup: 'rustup, for the arm64 standard library: https://rustup.rs',
  python3: 'python3 (3.11 or later), to install cargo-lambda: apt install python3 python3-venv',
};

/** Names everything that this machine lacks, in one error. */
export function requireTools(has: (program: string) => boolean = found): void {
  const missing = Object.entries(TOOLS).flatMap(([program, how]) => (has(program) ? [] : [`  - ${how}`]));
  if (missing.length > 0) throw new UsageError(`Not installed:\n${missing.join('\n')}`);
}

/** cargo-lambda and its linker, as installed by `./flash install`, or else in a separate environment. */
function cargoLambda(): string {
  const [local, own] = ['tools/.venv', 'target/cargo-lambda'].map((folder) => join(ROOT, folder, 'bin'));
  for (const folder of [local!, own!]) if (existsSync(join(folder, 'cargo-lambda'))) return folder;
  const pinned = readFileSync(join(ROOT, 'tools/requirements.txt'), 'utf8').match(/^cargo-lambda==.*$/m)?.[0];
  if (pinned === undefined) throw new Error('tools/requirements.txt has no cargo-lambda');
  say(`Installing ${pinned} into target/cargo-lambda`);
  must('python3 -m venv', 'python3', ['-m', 'venv', join(ROOT, 'target/cargo-lambda')]);
  must('pip', join(own!, 'pip'), ['install', '--quiet', pinned]);
  return own!;
}

/** Builds the functions for AWS and the pages. */
export function build(): void {
  requireTools();
  const bin = cargoLambda();
  must('rustup', 'rustup', ['target', 'add', TARGET], { quiet: true });
  say('Building the functions for arm64 (the first time takes some ten minutes)');
  const bins = FUNCTION_NAMES.flatMap((name) => ['--bin', name]);
  const args = ['lambda', 'build', '--release', '--arm64', '--lambda-dir', BUILT, ...bins];
  must('cargo lambda build', 'cargo', args, { env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` } });
  licenseBuilt();
  say('Building the pages');
  must('./flash pages', join(ROOT, 'flash'), ['pages']);
}

/** The program and arguments that bootstrap an account. */
export function bootstrapCommand(account: string, regions: string[], qualifier: string | undefined): [string, string[]] {
  const own = qualifier === undefined ? [] : ['--qualifier', qualifier, '--toolkit-stack-name', `CDKToolkit-${qualifier}`];
  return ['node', [CDK, 'bootstrap', ...regions.map((region) => `aws://${account}/${region}`), ...own]];
}

/** Bootstraps in a folder without an app, so that none is synthesized. */
export function bootstrap(account: string, regions: string[], qualifier: string | undefined): void {
  const work = mkdtempSync(join(tmpdir(), 'flash-sale-bootstrap-'));
  try {
    must('cdk bootstrap', ...bootstrapCommand(account, regions, qualifier), { cwd: work, env: cdkEnvironment() });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Runs `cdk` on the app. */
export function cdk(command: string, name: string, region: string, args: string[], occasion: Occasion = {}, env: NodeJS.ProcessEnv = {}): void {
  const given = Object.entries({ env: name, ...occasion }).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  must(`cdk ${command}`, 'node', [CDK, command, ...given, ...args], { cwd: APP, env: { ...cdkEnvironment(), AWS_REGION: region, ...env } });
}

function cdkEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, CDK_DISABLE_VERSION_CHECK: '1' };
}

export interface AccountQuotas {
  lambda: number;
  gateway: number;
}

/** The part of the planner's answer that is used (`schema` 2). */
export interface Plan {
  verdict: string;
  reasons: { check: string; why: string }[];
  to_do: { check: string; how: string; need: number; begin_by: string }[];
}

/** The planner's answer about a sale with these quotas. */
export async function planned(region: string, sale: PlannedSale, { lambda, gateway }: AccountQuotas): Promise<Plan> {
  const quotas = ['--lambda-quota', String(lambda), '--gateway-quota', String(Math.max(1, gateway))];
  const asked = ['--units', String(sale.units), '--audience', String(sale.audience), '--opens-at', sale.opensAt, '--region', region];
  const { status, stdout, stderr } = run(join(ROOT, 'tools/tool.sh'), ['planner', 'plan', '--json', ...asked, ...quotas], { quiet: true });
  // 2 means that the plan is refused.
  if (status !== 0 && status !== 2) throw new Error(`the planner: ${stderr.trim()}`);
  return JSON.parse(stdout);
}

/** A token for the smoke test, from the deployment's command. */
export function tokenFrom(command: string, user: string, role: string): string {
  const filled = command.replaceAll('{user}', user).replaceAll('{role}', role);
  const { status, stdout, stderr } = run('sh', ['-c', filled], { cwd: APP, quiet: true });
  if (status !== 0) throw new UsageError(`smoke.tokenCommand failed for ${role}:\n${stderr}`);
  return stdout.trim();
}

const functionsIn = (built: string): string[] => readdirSync(built).filter((each) => FUNCTION_NAMES.some((known) => known === each));

/** Puts the licences of what is compiled in beside each built function, in the folder that becomes its archive. */
export function licenseBuilt(built = BUILT): void {
  writeLicences();
  for (const name of functionsIn(built)) for (const file of LICENCE_FILES) copyFileSync(join(ROOT, file), join(built, name, file));
}

/** Archives each function's folder in the form that Lambda takes. */
export function archives(to: string, built = BUILT): void {
  mkdirSync(to, { recursive: true });
  for (const name of functionsIn(built)) {
    const files = ['bootstrap', ...LICENCE_FILES];
    // Python's module keeps the executable bit.
    must('python3 -m zipfile', 'python3', ['-m', 'zipfile', '-c', join(to, `${name}.zip`), ...files], { cwd: join(built, name) });
  }
}
