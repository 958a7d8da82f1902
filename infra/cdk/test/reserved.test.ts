import { describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { settingsOf } from '../lib/deployment.ts';
import { FUNCTION_NAMES, type FunctionName, IN_FRONT, SCHEDULED } from '../lib/functions.ts';
import { type Settings, validated } from '../lib/settings.ts';
import { DEPLOYED, functionNamed, type Json, only, resources, synthesized, target } from './stack.ts';

const { prod } = DEPLOYED;
const reserved = prod.reservedConcurrency!;

// tools/planner/profiles.json has the sum, which is none in dev. How fast queues are read is in queues.test.ts.
test('in prod a crowd leaves executions for payments, operators, queues and repairs', () => {
  const kept: FunctionName[] = ['admin', 'dead_letter', 'expiry', 'order', 'payment', 'webhook', 'winners', ...SCHEDULED];
  expect(Object.keys(reserved.functions).sort()).toEqual(kept.sort());
  const template = synthesized(prod);
  for (const name of FUNCTION_NAMES) {
    expect(functionNamed(template, name, prod).properties.ReservedConcurrentExecutions, name).toBe((reserved.functions as Partial<Record<FunctionName, number>>)[name]);
  }
});

describe('numbers that do not fit are refused with the calculation', () => {
  const opening = { from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count: 500 };
  const functions = (change: object): Partial<Settings> => ({
    reservedConcurrency: { ...reserved, functions: { ...reserved.functions, ...change } },
  });
  const CASES: [string, Partial<Settings>, RegExp][] = [
    ['a new account', { reservedConcurrency: { ...reserved, account: 10 } }, /reservedConcurrency: 167 reserved \+ 100 that AWS keeps unreserved \+ 0 provisioned = 267, but the account has 10: .*accountConcurrency/],
    ['an opening that is too large', { provisioned: [opening] }, /167 reserved .* \+ 1000 provisioned = 1267, but the account has 1000/],
    ['fewer for order than its queue uses', functions({ order: 49 }), /reservedConcurrency\.functions\.order: at least orderConcurrency, 50; got 49/],
    ['none for the kill switch', functions({ admin: 0 }), /reservedConcurrency\.functions\.admin: at least 1; got 0/],
    ['one for a queue', functions({ expiry: 1 }), /reservedConcurrency\.functions\.expiry: at least 2.*got 1/],
    ['none for the schedule beside a queue', functions({ warmup: 2 }), /reservedConcurrency\.functions\.warmup: at least 2 for its queue and one for its schedule; got 2/],
    ['half an execution', functions({ warmup: 3.5 }), /reservedConcurrency\.functions\.warmup: .*got 3\.5/],
  ];

  test.each(CASES)('%s', (_, change, message) => {
    expect(() => validated({ ...prod, ...change })).toThrow(message);
  });

  test('openings that do not overlap share processes', () => {
    const later = { ...opening, from: '2099-12-02T17:45:00Z', to: '2099-12-02T18:30:00Z' };
    const two = [opening, later].map((each) => ({ ...each, count: 300 }));
    expect(() => validated({ ...prod, provisioned: two })).not.toThrow();
  });

  test('the deployment\'s file sets the account\'s limit', () => {
    const deployment = { ...DEPLOYMENTS.prod, provisioned: [opening] };
    expect(settingsOf('prod', { ...deployment, accountConcurrency: 3000 }).reservedConcurrency!.account).toBe(3000);
    expect(() => settingsOf('prod', deployment)).toThrow(/prod\.ts is invalid.*= 1267, but the account has 1000/s);
    expect(settingsOf('dev', { ...DEPLOYMENTS.dev, accountConcurrency: 3000 }).reservedConcurrency).toBeUndefined();
  });
});

// That requests go through these aliases is in http-api.test.ts.
test('only functions in front of a sale have processes ready, from before an opening until after the rush', () => {
  const template = synthesized({
    ...prod,
    provisioned: [
      { from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count: 200 },
      { from: 'cron(45 17 * * ? *)', to: 'cron(30 18 * * ? *)', timeZone: 'Europe/Berlin', count: 20 },
    ],
  });
  expect(resources(template, 'AWS::ApplicationAutoScaling::ScalableTarget')).toHaveLength(IN_FRONT.length);
  for (const name of IN_FRONT) {
    const fn = functionNamed(template, name, prod).id;
    const alias = only(template, 'AWS::Lambda::Alias', ({ FunctionName }) => target(FunctionName) === fn).id;
    const { properties } = only(template, 'AWS::ApplicationAutoScaling::ScalableTarget', ({ ResourceId }) => JSON.stringify(ResourceId).includes(alias));
    expect(properties).toMatchObject({ ScalableDimension: 'lambda:function:ProvisionedConcurrency', MinCapacity: 0, MaxCapacity: 0 });
    const actions = properties.ScheduledActions.map(({ Schedule, Timezone, ScalableTargetAction: { MinCapacity, MaxCapacity } }: Json) =>
      [Schedule, Timezone, MinCapacity, MaxCapacity],
    );
    expect(actions).toEqual([
      ['at(2099-12-01T17:45:00)', undefined, 200, 200],
      ['at(2099-12-01T18:30:00)', undefined, 0, 0],
      ['cron(45 17 * * ? *)', 'Europe/Berlin', 20, 20],
      ['cron(30 18 * * ? *)', 'Europe/Berlin', 0, 0],
    ]);
  }
});
