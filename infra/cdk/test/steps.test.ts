import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { APP, bootstrapCommand, missingTools, ROOT } from '../deploy/steps.ts';
import { work } from '../deploy/smoke.ts';
import { workplace } from './stack.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The command as somebody without AWS runs it: no credentials, no home, no role of the machine. */
function run(args: string[], env: Record<string, string> = {}) {
  const { PATH } = process.env;
  const home = mkdtempSync(join(workplace, 'home-'));
  return spawnSync('node', ['--import', 'tsx', 'deploy/main.ts', ...args], {
    cwd: APP,
    encoding: 'utf8',
    env: { PATH, HOME: home, AWS_EC2_METADATA_DISABLED: 'true', AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', ...env },
  });
}

describe('without an AWS account', () => {
  test('a deployment gets as far as credentials, and says exactly what is missing', () => {
    const { status, stdout, stderr } = run(['deploy', 'dev']);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr.split('\n')).toEqual([
      'dev: profile dev in us-east-1, stack flash-sale-dev',
      'There are no AWS credentials:',
      '  - AWS_PROFILE is not set',
      '  - AWS_ACCESS_KEY_ID is not set',
      '  - AWS_SECRET_ACCESS_KEY is not set',
      '  - there is no default profile in ~/.aws that gives any, and this machine has no role',
      'Give some in one of these ways, and run the same command again:',
      expect.stringMatching(/^ {2}aws configure sso && export AWS_PROFILE=NAME/),
      expect.stringMatching(/^ {2}export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…/),
      '',
    ]);
  });

  test.each([
    [['preflight', 'prod'], /no infra\/cdk\/deployments\/prod\.ts/],
    [['operator', 'dev'], /make operator ENV=dev EMAIL=you@example\.com/],
  ])('%s says what is wrong, without a stack trace', (args, said) => {
    const { status, stderr } = run(args);
    expect(status).toBe(1);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain('    at ');
  });

  test('the account is prepared by the command of CDK, where there is no app that it could ask', () => {
    const [program, args] = bootstrapCommand('123456789012', ['eu-central-1', 'us-east-1'], 'shop1');
    expect(args.slice(1)).toEqual([
      'bootstrap',
      'aws://123456789012/eu-central-1',
      'aws://123456789012/us-east-1',
      '--qualifier',
      'shop1',
      '--toolkit-stack-name',
      'CDKToolkit-shop1',
    ]);
    const folder = mkdtempSync(join(workplace, 'bootstrap-'));
    const { status, stdout } = spawnSync(program, [...args, '--show-template'], { cwd: folder, encoding: 'utf8', env: { ...process.env, CDK_DISABLE_VERSION_CHECK: '1' } });
    expect(status).toBe(0);
    const { Parameters, Resources } = parse(stdout, { logLevel: 'silent' });
    expect(Parameters).toHaveProperty('Qualifier');
    // The version that templates ask for.
    expect(Number(Resources.CdkBootstrapVersion.Properties.Value)).toBeGreaterThanOrEqual(6);
  });
});

test('tools that are missing are all named, with what installs them', () => {
  expect(missingTools(() => true)).toEqual([]);
  const missing = missingTools(() => false);
  for (const tool of ['cargo', 'rustup', 'python3']) expect(missing.some((line) => line.startsWith(tool))).toBe(true);
});

test('cargo-lambda is pinned where it is installed from', () => {
  expect(read('local/requirements.txt')).toMatch(/^cargo-lambda==\d+\.\d+\.\d+$/m);
});

test('the work of a challenge begins with so many zero bits', () => {
  const answer = work('01a-challenge', 12);
  expect(work('01a-challenge', 12)).toBe(answer);
  expect(Number(answer)).toBeGreaterThanOrEqual(0);
});

describe('commands that pages name', () => {
  const makefile = read('Makefile');
  const targets = new Set([...makefile.matchAll(/^([a-z-]+):/gm)].map(([, name]) => name));
  const PAGES = ['README.md', 'infra/cdk/README.md', 'docs/deployment.md', 'docs/terraform-and-sam.md', 'docs/examples/github-actions.yml'];

  test.each(PAGES)('%s: make knows them', (page) => {
    const named = [...read(page).matchAll(/(?:^ +|`|&& |run: )make ((?:--[a-z]+ )*)([a-z-]+)/gm)].map(([, , name]) => name);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(targets, name).toContain(name);
  });

  test('the sample workflow is one: it tests, shows the change, and deploys by a role that it signs in to', () => {
    const workflow = parse(read('docs/examples/github-actions.yml'));
    expect(workflow.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(Object.keys(workflow.jobs)).toEqual(['test', 'diff', 'deploy']);
    const runs = (job: string) => workflow.jobs[job].steps.map((step: { run?: string }) => step.run).filter(Boolean);
    expect(runs('test')).toEqual(['make lint', 'make test']);
    expect(runs('deploy')).toEqual(['make deploy ENV=prod']);
    expect(runs('diff').join()).toContain('cdk diff --all -c env=prod');
    for (const job of ['diff', 'deploy']) {
      expect(workflow.jobs[job].needs).toBe('test');
      const credentials = workflow.jobs[job].steps.find((step: { uses?: string }) => step.uses?.startsWith('aws-actions/configure-aws-credentials'));
      expect(credentials.with).toEqual({ 'role-to-assume': '${{ vars.AWS_ROLE }}', 'aws-region': '${{ vars.AWS_REGION }}' });
    }
    expect(read('docs/examples/github-actions.yml')).not.toMatch(/AWS_SECRET|AKIA/);
  });
});
