import { describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { deploy, ensureBootstrap, type Programs } from '../deploy/deploy.ts';
import { destroy } from '../deploy/destroy.ts';
import type { Template } from '../deploy/removals.ts';
import { requireTools } from '../deploy/steps.ts';
import { ofAccount, pushUrlOf, type Target, urlThatAnswers } from '../deploy/target.ts';
import { type Deployment, type Occasion, settingsOf } from '../lib/deployment.ts';
import { UsageError } from '../lib/settings.ts';
import {
  ACCOUNT, bootstrapped, CERTIFICATE, executions, issuer, NO_STACK, type Recorded, recordedAws, refused, secretArn, secretIs, stackIs,
  templateIs, warmed, WELL,
} from './recorded.ts';
import { synthesized } from './stack.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const SHOP: Deployment = { ...DEPLOYMENTS.prod, account: ACCOUNT };
const WARMUP = 'POST /2015-03-31/functions/flash-sale-warmup/invocations';
const OUTPUTS = { WarmupFunctionName: 'flash-sale-warmup', EdgeKeySecretArn: secretArn('EdgeKey') };
const RUNS: Recorded = stackIs('UPDATE_COMPLETE', OUTPUTS);

const templateOf = (deployment: Deployment, occasion: Occasion = {}): Template =>
  synthesized(settingsOf('prod', deployment, occasion)).toJSON() as Template;

interface World {
  deployment?: Partial<Deployment>;
  /** The deployed shop, if there is one. */
  before?: Deployment;
  answers?: Record<string, Recorded>;
  edgeAnswers?: Record<string, Recorded>;
  agrees?: boolean;
  missing?: string[];
  fails?: (what: string) => Error | undefined;
}

/** A deployment of the shop, with the steps that it ran and the lines that it printed. */
function shop({ deployment: changed, before, answers, edgeAnswers, agrees = false, missing = [], fails }: World) {
  const deployment = { ...SHOP, ...changed };
  const deployed = before && templateOf(before);
  const stopped = Object.values(deployed?.Resources ?? {}).flatMap(({ Type, Properties }) =>
    Type === 'AWS::Lambda::Function' && Properties.FunctionName !== undefined ? [`GET /2019-09-30/functions/${Properties.FunctionName}/concurrency`] : [],
  );
  const aws = recordedAws(deployment.region, {
    ...WELL,
    ...Object.fromEntries(stopped.map((each) => [each, { body: {} }])),
    'GET /2015-03-31/event-source-mappings': { body: { EventSourceMappings: [] } },
    GetTemplate: deployed === undefined ? NO_STACK : templateIs(deployed),
    DescribeStacks: deployed === undefined ? NO_STACK : RUNS,
    ...answers,
  });
  const edgeAws = recordedAws('us-east-1', { ...WELL, GetTemplate: NO_STACK, ...edgeAnswers });
  const on: Target = { name: 'prod', deployment, settings: settingsOf('prod', deployment), aws, edgeAws, account: ACCOUNT };
  const done: string[] = [];
  const said: string[] = [];
  const does = (what: string): void => {
    done.push(what);
    const failure = fails?.(what);
    if (failure !== undefined) throw failure;
  };
  const told = (occasion: Occasion): string => (Object.keys(occasion).length === 0 ? '' : ` ${JSON.stringify(occasion)}`);
  const programs: Programs = {
    requireTools: () => requireTools((tool) => !missing.includes(tool)),
    bootstrap: (_, regions) => does(`bootstrap ${regions.join(' ')}`),
    build: () => does('build'),
    synth: ({ deployment: file }, occasion) => {
      does(`synth${told(occasion)}`);
      return templateOf(file, occasion);
    },
    deploy: (_, occasion) => does(`deploy${told(occasion)}`),
    agreed: async (word) => {
      does(`ask: ${word}`);
      return agrees;
    },
    say: (line) => said.push(line),
    tellUrls: async () => does('urls'),
    smoke: async () => does('smoke'),
    fetch: issuer,
    now: () => NOW,
  };
  return { on, programs, done, said, run: () => deploy(on, programs) };
}

describe('a deployment', () => {
  test('of a running shop builds, deploys, prints the URLs and buys, without a question', async () => {
    const { run, done } = shop({ before: SHOP });
    await run();
    expect(done).toEqual(['build', 'synth', 'deploy', 'urls', 'smoke']);
  });

  test('of a new shop asks first: another name or region in the file makes a second shop', async () => {
    const no = shop({});
    await expect(no.run()).rejects.toThrow('Nothing was deployed.');
    expect(no.done).toEqual(['ask: flash-sale']);
    expect(no.said.join()).toMatch(/no stack flash-sale in eu-central-1 of 123456789012: this creates a new shop/);
    const yes = shop({ agrees: true });
    await yes.run();
    expect(yes.done).toEqual(['ask: flash-sale', 'build', 'synth {"first":true}', 'deploy {"first":true}', 'synth', 'deploy', 'urls', 'smoke']);
  });

  test('prints its URLs before it tries to buy, including a missing DNS record', async () => {
    const { run, done } = shop({ before: SHOP, fails: (what) => (what === 'smoke' ? new UsageError('no address') : undefined) });
    await expect(run()).rejects.toThrow('no address');
    expect(done.slice(-2)).toEqual(['urls', 'smoke']);
  });

  test('that fails the first time says what is left, and what to do about an account without CloudFront', async () => {
    const { run } = shop({ agrees: true, fails: (what) => (what.startsWith('deploy') ? new UsageError('cdk deploy failed') : undefined) });
    await expect(run()).rejects.toThrow(/cdk deploy failed\n.*\.\/flash destroy prod.*edge: false/s);
  });
});

describe('whatever would fail, or shut the shop, is reported before anything is built', () => {
  const on = [{ from: '2026-11-23T11:45:00Z', to: '2026-11-23T12:30:00Z', count: 1 }];
  const CASES: [string, World, RegExp][] = [
    ['missing tools', { before: SHOP, missing: ['rustup'] }, /Not installed:\n {2}- rustup/],
    ['a new account', { answers: { 'GET /2016-08-19/account-settings': executions(10) } }, /lambda quota: the account has 10 .*\n {4}aws service-quotas/],
    ['a key that functions do not have', { before: SHOP, deployment: { edgeKey: 'key2' } }, /edge key: the secret has no key2.*\n {4}\.\/flash rotate-edge-key/],
    ['the second key of a secret that does not exist yet', { deployment: { edgeKey: 'key2' } }, /edge key: the secret is created with key1, and has no key2/],
    ['a secret scheduled for deletion, which new processes could not read', { before: SHOP, answers: { DescribeSecret: secretIs({ DeletedDate: 1_759_000_000 }) } }, /secrets: the edge's keys is scheduled for deletion\n {4}aws secretsmanager restore-secret/],
    ['a secret that is gone', { before: SHOP, answers: { DescribeSecret: refused('ResourceNotFoundException'), GetSecretValue: refused('ResourceNotFoundException') } }, /secrets: the edge's keys is gone/],
    ['an opening that has begun', { before: SHOP, deployment: { provisioned: on } }, /openings: a window is active until 2026-11-23T12:30:00Z/],
    ['parking while a round is open', { before: SHOP, deployment: { profile: 'parked', provisioned: [] }, answers: { [WARMUP]: warmed({ present: 1, later: 3 }) } }, /1 round is open, or opens within ten minutes/],
    ['parking when that cannot be checked', { before: SHOP, deployment: { profile: 'parked', provisioned: [] }, answers: { [WARMUP]: { body: { errorMessage: 'no' } } } }, /Could not find out whether a round is open/],
  ];

  test.each(CASES)('%s', async (_, world, says) => {
    const { run, done } = shop({ agrees: true, ...world });
    await expect(run()).rejects.toThrow(says);
    await expect(run()).rejects.toThrow(UsageError);
    expect(done).toEqual([]);
  });

  test('checks that these credentials may not run are reported, and stop nothing', async () => {
    const denied = refused('AccessDeniedException', 'no');
    const { run, done, said } = shop({ before: SHOP, answers: { 'GET /2016-08-19/account-settings': denied } });
    await run();
    expect(done).toContain('deploy');
    expect(said.join('\n')).toMatch(/lambda quota: it could not be checked \(AccessDeniedException/);
  });

  test('asks before what was stopped by hand may start again', async () => {
    const answers = { 'GET /2019-09-30/functions/flash-sale-order/concurrency': { body: { ReservedConcurrentExecutions: 0 } } };
    const { run, done, said } = shop({ before: SHOP, agrees: true, answers });
    await run();
    expect(done).toEqual(['build', 'synth', 'ask: remove it', 'deploy', 'urls', 'smoke']);
    expect(said.join('\n')).toMatch(/a stop: the function flash-sale-order was stopped by hand/);
  });

  test('parking between sales asks, and is not stopped', async () => {
    const { run, done, said } = shop({ before: { ...SHOP, provisioned: [] }, agrees: true, deployment: { profile: 'parked', provisioned: [] }, answers: { [WARMUP]: warmed({ later: 2 }) } });
    await run();
    expect(done).toEqual(['build', 'synth', 'ask: remove it', 'deploy', 'urls', 'smoke']);
    expect(said.join('\n')).toMatch(/2 published rounds open later/);
    expect(said.join('\n')).toMatch(/Redis, which is replaced/);
  });
});

describe('a switch to another Redis', () => {
  const before: Deployment = { ...SHOP, provisioned: [], redisUrl: 'rediss://one.example:6379' };
  const deployment: Partial<Deployment> = { provisioned: [], redisUrl: 'rediss://other.example:6379' };

  test('asks, names the open rounds, and releases at once: a canary would sell from two stocks', async () => {
    const { run, done, said } = shop({ before, deployment, agrees: true, answers: { [WARMUP]: warmed({ loaded: 1, failed: 1 }) } });
    await run();
    expect(done).toEqual(['build', 'synth', 'synth {"releases":"at-once"}', 'ask: remove it', 'deploy {"releases":"at-once"}', 'urls', 'smoke']);
    expect(said.join('\n')).toMatch(/the sale of 2 rounds that are open now or within ten minutes/);
    expect(Object.values(templateOf({ ...SHOP, ...deployment }, { releases: 'at-once' }).Resources).map(({ Type }) => Type)).not.toContain('AWS::CodeDeploy::DeploymentGroup');
  });

  test('is not prevented by one that does not answer', async () => {
    const { run, done, said } = shop({ before, deployment, agrees: true, answers: { [WARMUP]: refused('TooManyRequestsException') } });
    await run();
    expect(done).toContain('deploy {"releases":"at-once"}');
    expect(said.join('\n')).toMatch(/Could not find out whether a round is open/);
  });
});

test.each([
  ['no bootstrap stack', refused('ParameterNotFound'), ['bootstrap eu-central-1 us-east-1']],
  ['an old version', bootstrapped('5'), ['bootstrap eu-central-1 us-east-1']],
  ['a version that is enough', bootstrapped('6'), []],
])('an account with %s is bootstrapped if it must be', async (_, version, does) => {
  const { on, programs, done } = shop({ answers: { GetParameter: version }, edgeAnswers: { GetParameter: version } });
  await ensureBootstrap(on, programs);
  expect(done).toEqual(does);
});

describe('a deployment that is destroyed', () => {
  const gone: Record<string, Recorded> = { DeleteStack: { body: '<DeleteStackResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"/>' } };
  const resources: Recorded = {
    body: '<DescribeStackResourcesResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStackResourcesResult/></DescribeStackResourcesResponse>',
  };
  const asked = async (world: World) => {
    const { on, programs } = shop({ agrees: true, ...world });
    await destroy(on, programs);
    const deletions = (aws: object) => (aws as { asked: { operation: string; body: string }[] }).asked.filter(({ operation }) => operation === 'DeleteStack').map(({ body }) => new URLSearchParams(body).get('StackName'));
    return [...deletions(on.aws), ...deletions(on.edgeAws)];
  };
  const edgeIsThere = { GetTemplate: templateIs({ Resources: {} }), DescribeStacks: NO_STACK, ...gone };
  const answers = { ...gone, DescribeStackResources: resources, DescribeStacks: NO_STACK };

  test.each([{}, { edge: false }])('takes the firewall with it, also if the file has none any more: %j', async (deployment) => {
    expect(await asked({ before: SHOP, deployment, answers, edgeAnswers: edgeIsThere })).toEqual(['flash-sale', 'flash-sale-edge']);
  });

  test('takes away what a first deployment has left that failed: the firewall alone', async () => {
    expect(await asked({ edgeAnswers: edgeIsThere })).toEqual(['flash-sale-edge']);
    expect(await asked({})).toEqual([]);
  });
});

test('a shop under a name without a record is bought from under its CloudFront name, and the record is printed', async () => {
  const { on } = shop({ deployment: { domain: { name: 'sale.example.com', certificateArn: CERTIFICATE } } });
  const outputs = { EdgeUrl: 'https://sale.example.com', EdgeCloudFrontName: 'd111.cloudfront.net' };
  const said: string[] = [];
  const none = async () => Promise.reject(new Error('ENOTFOUND'));
  expect(await urlThatAnswers(on, outputs, (line) => said.push(line), none)).toBe('https://d111.cloudfront.net');
  expect(said.join()).toContain('create the record sale.example.com CNAME d111.cloudfront.net');
  expect(await urlThatAnswers(on, outputs, (line) => said.push(line), async () => [])).toBe('https://sale.example.com');
  expect(said).toHaveLength(1);
});

test('the address for push is the one that answers: on the emulator, the API is in the path', () => {
  const outputs = { PushUrl: 'wss://a1b2.execute-api.us-east-1.amazonaws.com/push' };
  const { on } = shop({});
  expect(pushUrlOf(on, outputs)).toBe(outputs.PushUrl);
  expect(pushUrlOf({ settings: { ...on.settings, emulator: 'http://127.0.0.1:4566' } }, outputs)).toBe('ws://127.0.0.1:4566/_aws/execute-api/a1b2/push');
});

test('credentials of another account are refused', () => {
  expect(() => ofAccount(SHOP, 'prod', '999999999999')).toThrow(/999999999999, but prod belongs to 123456789012: export AWS_PROFILE/);
  expect(ofAccount(SHOP, 'prod', ACCOUNT)).toBe(ACCOUNT);
});
