import { describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { accountOf } from '../deploy/aws.ts';
import { type Finding, type Preflight, preflight } from '../deploy/preflight.ts';
import { type Deployment, settingsOf } from '../lib/deployment.ts';
import { type Template } from '../deploy/removals.ts';
import type { Plan } from '../deploy/steps.ts';
import { synthesized } from './stack.ts';
import {
  ACCOUNT, bootstrapped, CERTIFICATE, certificateIs, executions, identity, issuer, type Recorded, recordedAws, refused, refusedXml,
  secretArn, secretHas, secretIs, stackIs, subscribed, throttle, TOPIC, WELL,
} from './recorded.ts';

const HOLDS: Plan = { verdict: 'holds', reasons: [], to_do: [] };
const SHOP: Deployment = { ...DEPLOYMENTS.prod, account: ACCOUNT };
const OUTPUTS = {
  AlarmTopicArn: TOPIC,
  ...Object.fromEntries(['PassSecretArn', 'PaymentSecretArn', 'WinnerSecretArn', 'WebhookSecretArn', 'EdgeKeySecretArn'].map((name) => [name, secretArn(name)])),
};
const DEPLOYED = { Resources: { D: { Type: 'AWS::CloudFront::Distribution', Properties: { k: '{{resolve:secretsmanager:x:SecretString:key1::}}' } } } };
const NOW = Date.parse('2026-11-23T12:00:00Z');

interface Change {
  deployment?: Partial<Deployment>;
  answers?: Record<string, Recorded>;
  edgeAnswers?: Record<string, Recorded>;
  about?: Partial<Preflight>;
}

async function look({ deployment: changed, answers, edgeAnswers, about }: Change = {}) {
  const deployment = { ...SHOP, ...changed };
  const region = deployment.region;
  const aws = recordedAws(region, { ...WELL, ...answers });
  const edgeAws = recordedAws('us-east-1', { ...WELL, ...edgeAnswers });
  const findings = await preflight({
    name: 'prod',
    deployment,
    settings: settingsOf('prod', deployment),
    aws,
    edgeAws,
    account: ACCOUNT,
    deployed: DEPLOYED,
    outputs: OUTPUTS,
    fetch: issuer,
    plan: async () => HOLDS,
    now: NOW,
    ...about,
  });
  return { findings, asked: [...aws.asked, ...edgeAws.asked] };
}

const bad = (findings: Finding[]): Finding[] => findings.filter(({ is }) => is !== 'good');

test('a healthy shop has no findings, and is not changed', async () => {
  const { findings, asked } = await look();
  expect(bad(findings)).toEqual([]);
  expect(new Set(findings.map(({ check }) => check))).toEqual(
    new Set(['account', 'bootstrap eu-central-1', 'bootstrap us-east-1', 'stack', 'issuer', 'certificate', 'lambda quota', 'gateway quota', 'sale at 2099-12-01T19:00:00+01:00', 'alarms', 'secrets', 'openings']),
  );
  for (const { operation } of asked) expect(operation).toMatch(/^(Get|List|Describe|GET )/);
});

test('before the first deployment, most findings say that they wait for it', async () => {
  const { findings } = await look({ about: { deployed: undefined, outputs: {} }, answers: { GetParameter: refused('ParameterNotFound') }, edgeAnswers: { GetParameter: refused('ParameterNotFound') } });
  expect(bad(findings)).toEqual(
    ['eu-central-1', 'us-east-1'].map((region) => ({
      check: `bootstrap ${region}`,
      is: 'wrong',
      says: expect.stringContaining('not bootstrapped there'),
      fix: './flash bootstrap prod',
    })),
  );
  expect(findings.find(({ check }) => check === 'alarms')!.says).toMatch(/must be confirmed/);
  // AWS must have verified the account.
  expect(findings.find(({ check }) => check === 'edge')!.says).toMatch(/verified.*edge: false/);
});

describe('each failure has the command that fixes it', () => {
  const RAISE = 'aws service-quotas request-service-quota-increase --service-code';
  const SALE = { units: 10_000, audience: 1_000_000, opensAt: '2099-12-01T19:00:00+01:00' };
  const settings = (count: number) => [{ from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count }];
  const planned = (plan: Partial<Plan>): Change => ({ deployment: { sales: [SALE] }, about: { plan: async () => ({ ...HOLDS, ...plan }) } });
  const certified = (status: string, of: string): Change => ({
    deployment: { domain: { name: 'sale.example.com', certificateArn: CERTIFICATE } },
    edgeAnswers: { DescribeCertificate: certificateIs(status, of) },
  });
  const PARKED: Partial<Deployment> = { profile: 'parked', provisioned: [] };
  const DEV: Partial<Deployment> = { ...DEPLOYMENTS.dev, issuer: undefined, audience: undefined, payUrl: undefined, webhookUrl: undefined, provisioned: [] };
  const CASES: [string, Change, string, RegExp, RegExp | string, Finding['is']?][] = [
    ['an old bootstrap', { answers: { GetParameter: bootstrapped('5') } }, 'bootstrap eu-central-1', /version 5, but 6 is required/, './flash bootstrap prod'],
    ['its own qualifier', { deployment: { qualifier: 'shop1' }, answers: { GetParameter: refused('ParameterNotFound') } }, 'bootstrap eu-central-1', /qualifier shop1/, './flash bootstrap prod'],
    ['a first deployment that failed', { answers: { DescribeStacks: stackIs('ROLLBACK_COMPLETE') } }, 'stack', /can only be deleted/, 'aws cloudformation delete-stack --stack-name flash-sale --region eu-central-1'],
    ['a rollback that failed', { answers: { DescribeStacks: stackIs('UPDATE_ROLLBACK_FAILED') } }, 'stack', /UPDATE_ROLLBACK_FAILED/, /continue-update-rollback/],
    ['another deployment', { answers: { DescribeStacks: stackIs('UPDATE_IN_PROGRESS') } }, 'stack', /IN_PROGRESS/, /wait stack-update-complete/],
    ['an issuer that is away', { about: { fetch: async () => new Response('', { status: 502 }) } }, 'issuer', /answered with 502/, /\.\/flash preflight prod/],
    [
      'a certificate for another name',
      certified('ISSUED', 'shop.example.com'),
      'certificate',
      /for shop\.example\.com, not for sale\.example\.com/,
      /aws acm request-certificate --region us-east-1 .*--domain-name sale\.example\.com/,
    ],
    ['a pending certificate', certified('PENDING_VALIDATION', 'sale.example.com'), 'certificate', /waits for its DNS record/, 'create this record: _x1.sale.example.com. CNAME _x2.acm-validations.aws.'],
    ['an expired certificate', certified('EXPIRED', '*.example.com'), 'certificate', /it is EXPIRED/, /request-certificate/],
    [
      'a new account',
      { answers: { 'GET /2016-08-19/account-settings': executions(10) } },
      'lambda quota',
      /has 10 concurrent executions, and 167 reserved \+ 100 unreserved \+ 400 provisioned = 667/,
      `${RAISE} lambda --quota-code L-B99A9384 --desired-value 1000 --region eu-central-1`,
    ],
    [
      'an opening that is too large for the account',
      { deployment: { provisioned: settings(1_500), accountConcurrency: 4_000 } },
      'lambda quota',
      /167 reserved \+ 100 unreserved \+ 3000 provisioned = 3267; deployments\/prod\.ts says 4000/,
      /--desired-value 3267/,
    ],
    ['a quota that was never raised', { deployment: { accountConcurrency: 5_000 } }, 'lambda quota', /counts on 5000/, /--desired-value 5000/],
    ['a gateway quota below the throttle', { answers: { ListServiceQuotas: throttle(2_500) } }, 'gateway quota', /2500 requests\/s .* uses 10000/, `${RAISE} apigateway --quota-code L-00000002 --desired-value 10000 --region eu-central-1`],
    [
      'a sale that the planner refuses',
      planned({ verdict: 'refused', reasons: [{ check: 'redis_scripts', why: 'one shard' }] }),
      `sale at ${SALE.opensAt}`,
      /10000 units, 1000000 people: refused: redis_scripts: one shard/,
      `./flash plan --units 10000 --audience 1000000 --opens-at ${SALE.opensAt}`,
    ],
    [
      'a sale that holds once a quota is raised',
      planned({ to_do: [{ check: 'lambda_concurrency', how: 'ask AWS', need: 4_590.5, begin_by: '2099-11-17' }] }),
      `sale at ${SALE.opensAt}`,
      /ask AWS; the sale needs 4591; begin by 2099-11-17/,
      /lambda --quota-code L-B99A9384 --desired-value 4591/,
    ],
    ['an unconfirmed receiver', { answers: { ListSubscriptionsByTopic: subscribed('PendingConfirmation') } }, 'alarms', /has not confirmed, so nobody receives alarms/, /aws sns subscribe --topic-arn/],
    ['another receiver', { answers: { ListSubscriptionsByTopic: subscribed(`${TOPIC}:1`, 'gone@example.com') } }, 'alarms', /on-call@example\.com is not subscribed/, './flash deploy prod'],
    ['a secret scheduled for deletion', { answers: { DescribeSecret: secretIs({ DeletedDate: 1_759_000_000 }) } }, 'secrets', /is scheduled for deletion/, /aws secretsmanager restore-secret --secret-id arn/],
    ['a secret that is gone', { answers: { DescribeSecret: refused('ResourceNotFoundException') } }, 'secrets', /is gone/, /restore it/],
    ['a key that was not added', { deployment: { edgeKey: 'key2' } }, 'edge key', /has no key2, only key1/, /\.\/flash rotate-edge-key prod/],
    [
      'a key that was added a moment ago',
      { deployment: { edgeKey: 'key2' }, answers: { GetSecretValue: secretHas('{"key1":"a","key2":"b"}', NOW / 1_000 - 60) } },
      'edge key',
      /may not know key2 before 2026-11-23T12:19:00/,
      /rotate-edge-key/,
    ],
    ['a window in the past', { deployment: { provisioned: [{ from: '2026-11-01T17:45:00Z', to: '2026-11-01T18:30:00Z', count: 1 }] } }, 'openings', /in the past/, /remove it from deployments\/prod\.ts/],
    ['an active window', { deployment: { provisioned: [{ from: '2026-11-23T11:45:00Z', to: '2026-11-23T12:30:00Z', count: 1 }] } }, 'openings', /a window is active/, /as deployed, or deploy after 2026-11-23T12:30:00Z/],
    ['a key of an edge that does not exist yet', { deployment: { edgeKey: 'key2' }, about: { deployed: undefined, outputs: {} } }, 'edge key', /is created with key1, and has no key2/, /remove edgeKey from deployments\/prod\.ts/],
    [
      'a sale of a parked deployment',
      { deployment: { ...PARKED, sales: [{ ...SALE, opensAt: '2026-11-23T12:30:00Z' }] } },
      'sale at 2026-11-23T12:30:00Z',
      /nothing can be sold while prod is parked: unpark it by 2026-11-23T11:30:00/,
      /profile: 'prod' into deployments\/prod\.ts; then: \.\/flash deploy prod/,
    ],
    ['a later sale of a parked deployment', { deployment: { ...PARKED, sales: [SALE] } }, `sale at ${SALE.opensAt}`, /nothing can be sold .* by 2099-12-01T17:00:00/, /profile: 'prod'/],
    ['a missing permission', { answers: { ListServiceQuotas: refused('AccessDeniedException', 'no') } }, 'quotas', /could not be checked \(AccessDeniedException/, /allow these credentials to read it/],
    ['a sale outside prod', { deployment: { ...DEV, sales: [SALE] } }, `sale at ${SALE.opensAt}`, /the planner only knows prod/, /profile: 'prod'/, 'wait'],
    ['dev in a new account', { deployment: { ...DEV, sales: [] }, answers: { 'GET /2016-08-19/account-settings': executions(10) } }, 'lambda quota', /not for a crowd/, /--desired-value 1000/, 'wait'],
  ];

  test.each(CASES)('%s', async (_, change, check, says, fix, is) => {
    const { findings } = await look(change);
    const found = bad(findings);
    expect(new Set(found.map((each) => each.check)), JSON.stringify(found)).toEqual(new Set([check]));
    expect(found[0]!.says).toMatch(says);
    expect(found[0]!.fix).toMatch(fix);
    if (is !== undefined) expect(found[0]!.is).toBe(is);
  });
});

describe('a window that has begun', () => {
  const settings = settingsOf('prod', SHOP);
  const on = [{ from: '2026-11-23T11:45:00Z', to: '2026-11-23T12:30:00Z', count: 1 }];
  const deployed = synthesized({ ...settings, provisioned: on }).toJSON() as Template;
  const opening = async (provisioned: typeof on, now: number) => {
    const { findings } = await look({ deployment: { provisioned }, about: { deployed, now } });
    return findings.find(({ check }) => check === 'openings');
  };

  test('does not stop a deployment that leaves it alone: a fix may be needed in the middle of it', async () => {
    expect(await opening(on, NOW)).toMatchObject({ is: 'wait', says: expect.stringContaining('does not affect it') });
    expect((await opening(on, NOW))?.stops).toBeUndefined();
    expect(await opening(on, NOW + 3_600_000)).toMatchObject({ is: 'good', says: expect.stringContaining('can be removed') });
  });

  test('stops a deployment that would create it again', async () => {
    const more = [...on, { from: '2026-12-01T17:45:00Z', to: '2026-12-01T18:30:00Z', count: 1 }];
    expect(await opening(more, NOW)).toMatchObject({ is: 'wrong', stops: true, says: expect.stringContaining('is active until 2026-11-23T12:30:00Z') });
    expect(await opening(more, NOW + 3_600_000)).toMatchObject({ is: 'wrong', stops: true, says: expect.stringContaining('AWS refuses a time in the past') });
  });
});

test('a certificate may have the domain as another name', async () => {
  const { findings } = await look({
    deployment: { domain: { name: 'sale.example.com', certificateArn: CERTIFICATE } },
    edgeAnswers: { DescribeCertificate: certificateIs('ISSUED', 'shop.example.com', 'sale.example.com') },
  });
  expect(findings.find(({ check }) => check === 'certificate')).toMatchObject({ is: 'good' });
});

test('the planner gets the account\'s quotas, and no past sales', async () => {
  const quotas: object[] = [];
  const sale = (opensAt: string) => ({ units: 1, audience: 1, opensAt });
  await look({
    deployment: { sales: [sale('2026-01-01T00:00:00Z'), sale('2099-01-01T00:00:00Z')] },
    about: {
      plan: async (planned, has) => {
        quotas.push({ ...has, opensAt: planned.opensAt });
        return HOLDS;
      },
    },
  });
  expect(quotas).toEqual([{ lambda: 3_000, gateway: 10_000, opensAt: '2099-01-01T00:00:00Z' }]);
});

describe('the account of the credentials', () => {
  const account = (answer: Recorded, env = {}) => accountOf(recordedAws('eu-central-1', { GetCallerIdentity: answer }), env);

  test('comes from AWS', async () => expect(await account(identity(ACCOUNT))).toBe(ACCOUNT));

  test.each([
    ['ExpiredToken', 'The security token included in the request is expired', /have expired. Sign in again: `aws sso login --profile shop`/],
    ['InvalidClientTokenId', 'The security token included in the request is invalid.', /AWS does not know these credentials/],
    ['ServiceUnavailable', 'later', /AWS did not answer whose credentials these are .*later/],
  ])('%s says what to do', async (code, message, said) => {
    await expect(account(refusedXml(code, message), { AWS_PROFILE: 'shop' })).rejects.toThrow(said);
  });
});
