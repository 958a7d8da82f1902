import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Flags, run as runHere } from '../deploy/commands.ts';
import { APP, ROOT } from '../deploy/paths.ts';
import { bootstrapCommand, requireTools } from '../deploy/steps.ts';
import { UsageError } from '../lib/settings.ts';
import { read } from '../openapi/files.js';
import { DEPLOYED, synthesized, workplace } from './stack.ts';

/** The checkout's Markdown files, except built or installed ones. */
function documents(folder = ''): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(\..*|node_modules|target)$/.test(entry.name) ? [] : documents(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Runs the command as without AWS: no credentials, no home, no role of the machine. */
function run(args: string[], variables: Record<string, string> = {}) {
  const { PATH } = process.env;
  const home = mkdtempSync(join(workplace, 'home-'));
  return spawnSync('node', ['--import', './typescript.js', 'deploy/main.ts', ...args], {
    cwd: APP,
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
    env: { PATH, HOME: home, AWS_EC2_METADATA_DISABLED: 'true', AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', ...variables },
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
      '  - there is no default profile with credentials in ~/.aws, and this machine has no role',
      'Provide some in one of these ways, and run the command again:',
      expect.stringMatching(/^ {2}aws configure sso && export AWS_PROFILE=NAME/),
      expect.stringMatching(/^ {2}export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…/),
      '',
    ]);
  });

  // In a process of its own, without the settings of a system that runs here.
  test('what is wrong is said without a stack trace', () => {
    const { status, stderr } = run(['deploy', 'emulator']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^(No system is running: start one with `make up`|To reach the running system, load its settings)/);
    expect(stderr).not.toContain('    at ');
  });

  test.each([
    [['preflight', 'prod'], /no infra\/cdk\/deployments\/prod\.ts/],
    [['preflight', 'example'], /deployments\/example\.ts is a template/],
    [['operator', 'dev'], /\.\/flash operator dev --email you@example\.com/],
    [['pay', 'dev'], /^Which reservation, and how much\? \.\/flash pay/],
    [['pay', 'dev'], /^--price-minor: a whole number of minor units, such as 990 for 9\.90; got "9\.90"$/m, { id: 'lamp.1.a', 'price-minor': '9.90' }],
    [['pay', 'dev'], /^--price-minor: .*; got "-1"$/m, { id: 'lamp.1.a', 'price-minor': '-1' }],
    [['pay', 'dev'], /^Which reservation, and how much\?/, { id: 'lamp.1.a', 'price-minor': '' }],
  ] as [[string, string], RegExp, Flags?][])('%s says what is wrong', async ([command, name], said, flags = {}) => {
    const refused: unknown = await runHere(command, name, flags).catch((error: unknown) => error);
    // Of such an error, the process prints only the message.
    expect(refused).toBeInstanceOf(UsageError);
    expect((refused as UsageError).message).toMatch(said);
  });

  test('a flag may be a variable, and one that there is not is named', () => {
    expect(run(['pay', 'dev', '--price-minor=9.90'], { ID: 'lamp.1.a' }).stderr).toMatch(/^--price-minor: a whole number of .*; got "9\.90"\n$/);
    expect(run(['operator', 'dev', '--mail', 'you@example.com'])).toMatchObject({ status: 1, stderr: expect.stringMatching(/^Unknown option '--mail'.*\n$/) });
  });

  test('the account is prepared by the command of CDK, where there is no app that it could ask', () => {
    const [program, args] = bootstrapCommand('123456789012', ['eu-central-1', 'us-east-1'], 'shop1');
    expect(args.slice(1)).toEqual([
      'bootstrap', 'aws://123456789012/eu-central-1', 'aws://123456789012/us-east-1', '--qualifier', 'shop1',
      '--toolkit-stack-name', 'CDKToolkit-shop1',
    ]);
    const folder = mkdtempSync(join(workplace, 'bootstrap-'));
    const { status, stdout } = spawnSync(program, [...args, '--show-template'], { cwd: folder, encoding: 'utf8', env: { ...process.env, CDK_DISABLE_VERSION_CHECK: '1' } });
    expect(status).toBe(0);
    const { Parameters, Resources } = parse(stdout, { logLevel: 'silent' });
    expect(Parameters).toHaveProperty('Qualifier');
    // The version that templates require.
    expect(Number(Resources.CdkBootstrapVersion.Properties.Value)).toBeGreaterThanOrEqual(6);
  });
});

test('all missing tools are named, with how to install them', () => {
  requireTools(() => true);
  expect(() => requireTools(() => false)).toThrow(/^Not installed:\n {2}- cargo: .*\n {2}- rustup, .*\n {2}- python3 .*$/);
});

test('a file with conflict markers is refused, and runs once they are gone', () => {
  const file = join(mkdtempSync(join(workplace, 'merged-')), 'merged.ts');
  const loaded = () => spawnSync('node', ['--import', './typescript.js', file], { cwd: APP, encoding: 'utf8' });
  writeFileSync(file, '<<<<<<< HEAD\nconst n: number = 1;\n=======\nconst n: number = 2;\n>>>>>>> other\nconsole.log(n);\n');
  expect(loaded()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/merged\.ts\(1,1\): error TS1185: Merge conflict marker/) });
  writeFileSync(file, 'const n: number = 1;\nconsole.log(n);\n');
  expect(loaded()).toMatchObject({ status: 0, stdout: '1\n' });
});

test('cargo-lambda is pinned where it is installed from', () => {
  expect(read('tools/requirements.txt')).toMatch(/^cargo-lambda==\d+\.\d+\.\d+$/m);
});

describe('commands in the documentation', () => {
  const makefile = read('Makefile');
  const listed = spawnSync(join(ROOT, 'flash'), { encoding: 'utf8' }).stdout;
  const names = (text: string, name: RegExp) => [...text.matchAll(name)].map((found) => found[1]!);
  const commands = [
    ...names(makefile, /^([a-z-]+):.*## /gm).map((name) => `make ${name}`),
    ...names(listed, /^ {2}([a-z-]+) /gm).map((name) => `./flash ${name}`),
  ];
  const pages = [...documents(), 'docs/examples/github-actions.yml'];
  const named = (page: string) => names(read(page), /(?:^ +|`|&& |run: |[=$]\()((?:make|\.\/flash) [a-z-]+)/gm);

  test.each(pages)('%s: there are these commands', (page) => {
    for (const name of named(page)) expect(commands, name).toContain(name);
  });

  test('the list has every command for a deployment', async () => {
    const refused = (await runHere('nothing', undefined, {}).catch((error: unknown) => error)) as Error;
    const known = refused.message.match(/^Which command\? (.*); got/)![1]!.split(', ');
    expect(commands).toEqual(expect.arrayContaining(known.map((name) => `./flash ${name}`)));
  });

  test('pages that start with a command have one', () => {
    expect(pages.length).toBeGreaterThan(20);
    for (const page of ['README.md', 'docs/local.md', 'docs/deployment.md']) expect(named(page), page).not.toEqual([]);
  });

  describe('the sample workflow', () => {
    const text = read('docs/examples/github-actions.yml');
    const workflow = parse(text);
    const steps = (job: string) => workflow.jobs[job].steps;
    const runs = (job: string): string[] => steps(job).map((step: { run?: string }) => step.run).filter(Boolean);
    const role = (job: string) => steps(job).find((step: { uses?: string }) => step.uses?.startsWith('aws-actions/configure-aws-credentials'))?.with['role-to-assume'];

    test('tests, shows the change, and deploys', () => {
      expect(Object.keys(workflow.jobs)).toEqual(['test', 'diff', 'deploy']);
      expect(runs('test')).toEqual(['make lint', 'make test']);
      expect(runs('deploy')).toEqual(['./flash deploy prod']);
      expect(runs('diff').join()).toContain('cdk diff --all -c env=prod');
      for (const job of ['diff', 'deploy']) expect(workflow.jobs[job].needs).toBe('test');
      expect(text).not.toMatch(/AWS_SECRET|AKIA/);
    });

    test('signs in only where AWS is needed, and with a read-only role for unmerged code', () => {
      expect(workflow.permissions).toEqual({ contents: 'read' });
      expect(workflow.jobs.test.permissions).toBeUndefined();
      for (const job of ['diff', 'deploy']) expect(workflow.jobs[job].permissions).toEqual({ contents: 'read', 'id-token': 'write' });
      expect([role('test'), role('diff'), role('deploy')]).toEqual([undefined, '${{ vars.AWS_READ_ROLE }}', '${{ vars.AWS_ROLE }}']);
      // GitHub writes one or the other into `sub`, by which a role can distinguish them.
      expect([workflow.jobs.diff.environment, workflow.jobs.deploy.environment]).toEqual([undefined, 'prod']);
      expect(text).toContain('repo:OWNER/REPOSITORY:pull_request');
      expect(text).toContain('repo:OWNER/REPOSITORY:environment:prod');
      // It would read a secret and create change sets.
      expect(runs('diff').join()).not.toContain('preflight');
      expect(runs('diff').join()).toContain('--method=template');
    });
  });

  test('each finding in docs/deployment.md names an existing test', () => {
    const rows = read('docs/deployment.md').split('\n').filter((line) => /^\|.*\| `[^|]*(\.test\.ts|\.rs)`[^|]*\|$/.test(line));
    expect(rows.length).toBeGreaterThanOrEqual(15);
    const named = rows.flatMap((row) => [...row.split('|')[3]!.matchAll(/`([^`]+)`(?:: "([^"]+)")?/g)]);
    for (const [, file, name] of named) expect(read(file!), file).toContain(name ?? '');
  });

  test('`make lint` installs what it needs on a clean machine', () => {
    const lint = makefile.slice(makefile.indexOf('\nlint:'), makefile.indexOf('\ndeny:'));
    for (const folder of ['infra/cdk', 'clients']) {
      const installs = lint.search(new RegExp(`\\$\\(PACKAGES\\) .*${folder}\\b`));
      const checks = lint.search(new RegExp(`(--prefix ${folder}|cd ${folder}).*typecheck`));
      expect([folder, installs >= 0 && installs <= checks]).toEqual([folder, true]);
    }
  });

  test('the template is too large to send to CloudFormation directly, and the SAM command names a bucket', () => {
    expect(JSON.stringify(synthesized(DEPLOYED.prod).toJSON()).length).toBeGreaterThan(51_200);
    const command = read('docs/deployment.md').match(/^ +sam deploy .*$/m)?.[0];
    expect(command).toMatch(/ (--s3-bucket \S+|--resolve-s3)/);
  });
});
