import { describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { changesRedis, deployedTemplate, keepsWindows, removals, stoppedByHand, type Template } from '../deploy/removals.ts';
import { settingsOf } from '../lib/deployment.ts';
import type { Settings } from '../lib/settings.ts';
import { NO_STACK, type Recorded, recordedAws, refused, refusedXml, templateIs } from './recorded.ts';
import { DEPLOYED, type Json, synthesized } from './stack.ts';

const opening = { from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count: 200 };
const later = { from: 'cron(45 17 * * ? *)', to: 'cron(30 18 * * ? *)', timeZone: 'Europe/Berlin', count: 20 };
const settings: Settings = { ...DEPLOYED.prod, provisioned: [opening, later] };
const json = (of: Settings): Template => synthesized(of).toJSON() as Template;
const shop = json(settings);

/** The shop with a change. */
function changed(change: (resources: Template['Resources']) => void): Template {
  const copy = structuredClone(shop);
  change(copy.Resources);
  return copy;
}

function first(template: Template, type: string): string {
  return Object.keys(template.Resources).find((id) => template.Resources[id]!.Type === type)!;
}

test('the same deployment removes nothing, and neither does an addition', () => {
  expect(removals(shop, shop)).toEqual([]);
  expect(removals(json(DEPLOYED.prod), shop)).toEqual([]);
});

test('openings that are left out are asked about', () => {
  expect(removals(shop, json(DEPLOYED.prod)).sort()).toEqual([
    'scheduled capacity: 20 processes of admission, cron(45 17 * * ? *) to cron(30 18 * * ? *) in Europe/Berlin',
    'scheduled capacity: 20 processes of reservation, cron(45 17 * * ? *) to cron(30 18 * * ? *) in Europe/Berlin',
    'scheduled capacity: 200 processes of admission, at(2099-12-01T17:45:00) to at(2099-12-01T18:30:00)',
    'scheduled capacity: 200 processes of reservation, at(2099-12-01T17:45:00) to at(2099-12-01T18:30:00)',
  ]);
});

describe('an opening that has begun', () => {
  const at = (moment: string): number => Date.parse(moment);
  const left = json({ ...DEPLOYED.prod, provisioned: [later] });

  test('is asked about until its end: its processes would disappear during the rush', () => {
    const gone = removals(shop, left, at('2099-12-01T18:00:00Z'));
    expect(gone.sort()).toEqual(['admission', 'reservation'].map((name) => expect.stringMatching(new RegExp(`200 processes of ${name}, .*, which is active now$`))));
    expect(removals(shop, left, at('2099-12-01T18:30:00Z'))).toEqual([]);
  });

  test('is asked about if it would end earlier', () => {
    const shorter = json({ ...DEPLOYED.prod, provisioned: [{ ...opening, to: '2099-12-01T18:05:00Z' }, later] });
    expect(removals(shop, shorter, at('2099-12-01T18:00:00Z'))).toHaveLength(2);
  });

  test('is left alone only by a deployment of the same windows', () => {
    expect(keepsWindows(shop, [opening, later])).toBe(true);
    for (const other of [[opening], [later, opening], [opening, { ...later, count: 21 }], []]) expect(keepsWindows(shop, other)).toBe(false);
    expect(keepsWindows(json(DEPLOYED.prod), [])).toBe(false);
  });
});

test('fewer processes and other times are asked about, and past openings are not', () => {
  const schedulesIn = (resources: Template['Resources']): Json[][] =>
    Object.values(resources).filter(({ Type }) => Type === 'AWS::ApplicationAutoScaling::ScalableTarget').map(({ Properties }) => Properties.ScheduledActions);
  const fewer = changed((resources) => {
    for (const [{ ScalableTargetAction }] of schedulesIn(resources)) Object.assign(ScalableTargetAction, { MinCapacity: 100, MaxCapacity: 100 });
  });
  expect(removals(shop, fewer)).toHaveLength(2);
  const over = changed((resources) => {
    for (const [from, to] of schedulesIn(resources)) [from.Schedule, to.Schedule] = ['at(2020-12-01T17:45:00)', 'at(2020-12-01T18:30:00)'];
  });
  expect(removals(over, shop)).toEqual([]);
});

test('a removed receiver of alarms is asked about, and so is a replaced one', () => {
  const id = first(shop, 'AWS::SNS::Subscription');
  const said = ['a receiver of alarms: email on-call@example.com'];
  expect(removals(shop, changed((resources) => delete resources[id]))).toEqual(said);
  expect(removals(shop, changed((resources) => (resources[id]!.Properties.Endpoint = 'other@example.com')))).toEqual(said);
});

test('the table, its protection and the firewall are asked about', () => {
  const id = first(shop, 'AWS::DynamoDB::Table');
  expect(removals(shop, changed((resources) => delete resources[id]))).toEqual([`the table ${id}, with every sale, order and kill switch in it`]);
  expect(removals(shop, changed((resources) => (resources[id]!.DeletionPolicy = 'Delete')))).toEqual([
    `the protection of the table ${id}: it would be deleted with the stack`,
  ]);
  const distribution = first(shop, 'AWS::CloudFront::Distribution');
  const open = changed((resources) => delete resources[distribution]!.Properties.DistributionConfig.WebACLId);
  expect(removals(shop, open)).toEqual(['the firewall in front of the shop']);
});

test('user accounts and the shop\'s address are asked about', () => {
  const dev = json(DEPLOYED.dev);
  const pool = first(dev, 'AWS::Cognito::UserPool');
  const oidc = json(settingsOf('dev', { ...DEPLOYMENTS.dev, issuer: 'https://id.example.com', audience: ['shop'] }));
  expect(removals(dev, oidc)).toEqual([`the user pool ${pool}, with all of its users`]);
  const bare = json(settingsOf('dev', { ...DEPLOYMENTS.dev, edge: false }));
  expect(removals(dev, bare)).toEqual(["the shop's address at CloudFront, and the page"]);
});

describe('another Redis', () => {
  const external = (redisUrl: string): Template => json(settingsOf('prod', { ...DEPLOYMENTS.prod, provisioned: [], redisUrl }));
  const [one, other] = [external('rediss://one.example:6379'), external('rediss://other.example:6379')];
  const anew = [expect.stringMatching(/^Redis, which is replaced: /)];

  test('is asked about: a canary would sell from two', () => {
    expect(removals(one, other)).toEqual(anew);
    expect(removals(json(DEPLOYED.prod), one)).toEqual(anew);
    expect([changesRedis(one, other), changesRedis(one, one)]).toEqual([true, false]);
  });

  test('with more shards is still the same one', () => {
    expect(changesRedis(json(DEPLOYED.prod), json(settingsOf('edge', { ...DEPLOYMENTS.edge, provisioned: [] })))).toBe(false);
  });
});

test('parking removes the openings and replaces Redis, and unparking replaces it again', () => {
  const parked = json(settingsOf('parked', DEPLOYMENTS.parked));
  const gone = removals(shop, parked);
  expect(gone).toHaveLength(5);
  for (const each of gone.slice(0, 4)) expect(each).toMatch(/^scheduled capacity: /);
  const anew = expect.stringMatching(/^Redis, which is replaced: .* when none is open$/);
  expect(gone[4]).toEqual(anew);
  expect(removals(parked, shop)).toEqual([anew]);
});

describe('what AWS says', () => {
  test('is the deployed template, or that there is none', async () => {
    const deployed = (GetTemplate: Recorded) => deployedTemplate(recordedAws('eu-central-1', { GetTemplate }), 'flash-sale');
    expect(await deployed(templateIs({ Resources: {} }))).toEqual({ Resources: {} });
    expect(await deployed(NO_STACK)).toBeUndefined();
    await expect(deployed(refusedXml('AccessDenied', 'no'))).rejects.toThrow('no');
  });

  test('is which functions are stopped, and which sources are off', async () => {
    const small: Template = {
      Resources: {
        Order: { Type: 'AWS::Lambda::Function', Properties: { FunctionName: 'flash-sale-order' } },
        Expiry: { Type: 'AWS::Lambda::Function', Properties: { FunctionName: 'flash-sale-expiry' } },
        Gone: { Type: 'AWS::Lambda::Function', Properties: { FunctionName: 'flash-sale-gone' } },
        Feed: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { FunctionName: { Ref: 'Expiry' } } },
      },
    };
    const aws = recordedAws('eu-central-1', {
      'GET /2019-09-30/functions/flash-sale-order/concurrency': { body: { ReservedConcurrentExecutions: 0 } },
      'GET /2019-09-30/functions/flash-sale-expiry/concurrency': { body: { ReservedConcurrentExecutions: 20 } },
      'GET /2019-09-30/functions/flash-sale-gone/concurrency': refused('ResourceNotFoundException'),
      'GET /2015-03-31/event-source-mappings': { body: { EventSourceMappings: [{ UUID: 'u', State: 'Disabled' }] } },
    });
    expect(await stoppedByHand(aws, small)).toEqual([
      expect.stringMatching(/^a stop: the function flash-sale-order was stopped by hand/),
      expect.stringMatching(/^a stop: the source of flash-sale-expiry was turned off/),
    ]);
  });
});
