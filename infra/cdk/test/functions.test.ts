import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { describe, expect, test } from 'vitest';
import { fakesIn, synthesize } from '../bin/examples.ts';
import { builtFunction } from '../lib/function-assets.ts';
import { FUNCTIONS, FUNCTION_NAMES, type FunctionName, SCHEDULED } from '../lib/functions.ts';
import type { Architecture, Settings } from '../lib/settings.ts';
import { read } from '../openapi/files.js';
import { DEPLOYED, fakeFunctions, functionNamed, newApp, only, resources, synthesized, synthesizedIn, target, variablesOf, workplace } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const readme = read('infra/cdk/README.md');

/** The features of shared/context in a function's Cargo.toml: what it may access. */
function touches(name: FunctionName): string[] {
  const [, features] = read(`functions/${name}/Cargo.toml`).match(/^context = .*features = \[(.*)\]/m)!;
  return features!.match(/\w+/g)!;
}

/** The variables that each feature needs, as in shared/context/src/dependencies.rs. */
const MADE_FROM: Record<string, string[]> = {
  ...{ awards: [], crowd: [], order_counts: [], snapshots: [], sqs: [], terms: [] },
  emitter_failures: ['EMITTER_FAILURES_QUEUE_URL'],
  expiry_queue: ['EXPIRY_QUEUE_URL'],
  rebuild_queue: ['REBUILDS_QUEUE_URL'],
  http: ['EDGE_KEY_SECRET_ARN', 'EDGE_ONLY'],
  ledger: ['TABLE_NAME'],
  order_backlog: ['ORDERS_DLQ_URL', 'ORDERS_QUEUE_URL'],
  order_queue: ['ORDERS_QUEUE_URL'],
  pass_keys: ['PASS_SECRET_ARN'],
  payment_secret: ['PAYMENT_SECRET_ARN'],
  push_gateway: ['PUSH_ENDPOINT'],
  quarantine: ['QUARANTINE_QUEUE_URL'],
  stock: ['REDIS_AUTH_SECRET_ARN', 'REDIS_URL'],
  webhook_queue: ['WEBHOOK_QUEUE_URL'],
  webhook_secret: ['WEBHOOK_SECRET_ARN'],
  winner_queue: ['WINNERS_QUEUE_URL'],
  winner_secret: ['WINNER_SECRET_ARN'],
};

/** Variables that a function reads itself. */
const OWN: Partial<Record<FunctionName, string[]>> = {
  admission: ['GROUP_CLAIM'],
  catalog: ['GROUP_CLAIM'],
  websocket: ['JWT_AUDIENCE', 'JWT_ISSUER'],
  admin: [
    'EXPIRY_DLQ_URL', 'EXPIRY_QUEUE_URL', 'OPERATOR_CLAIM', 'OPERATOR_GROUP', 'ORDERS_DLQ_URL', 'ORDERS_QUEUE_URL',
    'QUARANTINE_QUEUE_URL', 'WEBHOOK_DLQ_URL', 'WEBHOOK_QUEUE_URL', 'WINNERS_DLQ_URL', 'WINNERS_QUEUE_URL',
  ],
  winners: ['WINNERS_PER_S'],
  emitter: ['EVENT_BUS_NAME'],
};

const expectedVariables = (name: FunctionName): string[] =>
  [...new Set([...touches(name), ...(touches(name).includes('crowd') ? ['http'] : [])])]
    .flatMap((feature) => MADE_FROM[feature]!)
    .concat(OWN[name] ?? [])
    .sort();

describe.each(FUNCTION_NAMES)('%s', (name) => {
  const { properties, dependsOn } = functionNamed(template, name, settings);

  test('runs as its own program with its own timeout and memory, and keeps its log for as long as the settings say', () => {
    expect(properties).toMatchObject({ MemorySize: name === 'draw' ? 1769 : 256, Timeout: FUNCTIONS[name].timeout_s });
    expect(properties).toMatchObject({ Runtime: 'provided.al2023', Handler: name, Architectures: ['arm64'] });
    const log = resources(template, 'AWS::Logs::LogGroup').find(({ id }) => id === target(properties.LoggingConfig.LogGroup))!;
    expect(log.properties.RetentionInDays).toBe(settings.logRetentionDays);
  });

  test('has the variables that it needs, and no others', () => {
    const expected = ['LOG_LEVEL', 'METRICS_NAMESPACE', ...expectedVariables(name)];
    expect(Object.keys(properties.Environment.Variables).sort()).toEqual(expected.sort());
  });

  test('has its role and its variables in the table of the README', () => {
    const [, role, variables] = readme.match(new RegExp(`^\\| \`${name}\` \\| \`(\\w+)\` \\| (.*) \\|$`, 'm')) ?? [];
    expect(target(template.toJSON().Outputs[role!]?.Value)).toBe(target(properties.Role));
    const listed = variables!.match(/`\w+`/g)?.map((each) => each.slice(1, -1)) ?? [];
    expect(listed.sort()).toEqual(expectedVariables(name).filter((variable) => variable !== 'TABLE_NAME'));
  });

  test('is created after its policy, so that its first call is allowed', () => {
    const policies = resources(template, 'AWS::IAM::Policy').filter((policy) => target(policy.properties.Roles[0]) === target(properties.Role));
    for (const policy of policies) expect(dependsOn).toContain(policy.id);
  });

  test(FUNCTIONS[name].redis ? 'runs next to Redis' : 'stays outside the network', () => {
    expect(properties.VpcConfig !== undefined).toBe(FUNCTIONS[name].redis);
    expect(touches(name).includes('stock')).toBe(FUNCTIONS[name].redis);
  });
});

type Told = [FunctionName, Partial<Settings>, Record<string, string | undefined>];

// At most as many winners a second as the settings say are divided between two processes.
test.each([
  ['winners', {}, { WINNERS_PER_S: '50', GIFT_URL: undefined }],
  ['winners', { winnersPerSecond: 7, giftUrl: 'https://gifts.example.com/' }, { WINNERS_PER_S: '3', GIFT_URL: 'https://gifts.example.com/' }],
  ['admin', { pictureHosts: [] }, { PICTURE_HOSTS: undefined }],
  ['admin', { pictureHosts: ['img.example.com', 'cdn.example.com'] }, { PICTURE_HOSTS: 'img.example.com,cdn.example.com' }],
  ['reconciliation', {}, { THROTTLE_BUSY_SALES_TO: undefined }],
  ['reconciliation', { throttleBusySalesTo: 500 }, { THROTTLE_BUSY_SALES_TO: '500' }],
] as Told[])('%s is told by the settings %j', (name, changed, told) => {
  const variables = variablesOf(synthesized({ ...settings, ...changed }), name, settings);
  for (const [variable, value] of Object.entries(told)) expect(variables[variable], variable).toBe(value);
});

// A longer timeout stops the synthesis.
test.each(SCHEDULED)('%s runs once a minute', (name) => {
  const fn = functionNamed(template, name, settings).id;
  const { properties } = only(template, 'AWS::Scheduler::Schedule', ({ Target }) => target(Target.Arn) === fn);
  expect(properties).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED', Target: { RetryPolicy: { MaximumRetryAttempts: 0 } } });
  const config = only(template, 'AWS::Lambda::EventInvokeConfig', ({ FunctionName }) => target(FunctionName) === fn);
  expect(config.properties.MaximumRetryAttempts).toBe(0);
});

test('nothing else runs on a schedule', () => {
  expect(resources(template, 'AWS::Scheduler::Schedule')).toHaveLength(SCHEDULED.length);
});

test('a function is deployed as its archive, unless it was built again since', () => {
  const root = fakeFunctions(['expiry']);
  const [program, archive] = [join(root, 'expiry/bootstrap'), join(root, 'expiry/bootstrap.zip')];
  const deployed = () => (builtFunction(root, 'expiry', 'arm64') as lambda.AssetCode).path;
  expect(deployed()).toBe(join(root, 'expiry'));
  writeFileSync(archive, '');
  utimesSync(archive, 1, 1);
  utimesSync(program, 1, 1);
  expect(deployed()).toBe(archive);
  utimesSync(program, 2, 2);
  expect(deployed()).toBe(join(root, 'expiry'));
});

describe('what cannot run stops a deployment, and says what to do', () => {
  const of = (architecture: Architecture) => fakeFunctions(FUNCTION_NAMES, architecture);
  const changed = (change: (bootstrap: Buffer) => Buffer): string => {
    const root = of('arm64');
    const file = join(root, 'expiry/bootstrap');
    writeFileSync(file, change(readFileSync(file)));
    return root;
  };
  const here = { ...DEPLOYED.local, architecture: 'x86_64' } as const;
  const built = FUNCTION_NAMES.filter((name) => name !== 'expiry');

  test.each([
    ['a function that is not built for AWS', settings, () => fakeFunctions(built), /expiry is not built.*`\.\/flash build-aws`/s],
    ['nor for this machine', here, () => fakeFunctions(built, 'x86_64'), /expiry is not built.*`make build`/s],
    ['one for another machine than AWS\'s', settings, () => of('x86_64'), /^The function \w+ is built for x86_64 but the settings require arm64: .*bootstrap\. Run `\.\/flash build-aws` first\.$/],
    ['one for another machine than this', here, () => of('arm64'), /is built for arm64 but the settings require x86_64: .*`make build`/],
  ] as const)('%s', (_, on, root, message) => {
    expect(() => synthesizedIn(newApp(), on, root())).toThrow(message);
  });

  // `npm run lint` synthesizes all examples without a warning.
  test('in the command there are instructions instead of a stack trace', () => {
    const context = { ...fakesIn(join(workplace, 'fakes')), env: 'dev', functions: of('x86_64') };
    const { status, stderr } = synthesize(join(workplace, 'app'), context, { withTemplateCheck: false });
    expect(status).toBe(1);
    expect(stderr).toMatch(/is built for x86_64 .*\.\/flash build-aws/);
    expect(stderr).not.toContain('    at ');
  });

  test.each([
    ['a script', () => Buffer.from('#!/bin/sh\nexec true\n'), /expiry is not an ELF program/],
    ['an empty file', () => Buffer.alloc(0), /expiry is not an ELF program/],
    ['a 32-bit program', (elf: Buffer) => Buffer.from(elf.with(4, 1)), /expiry is not an ELF program of 64 bits/],
    ['another processor', (elf: Buffer) => Buffer.from(elf.with(18, 0xf3)), /expiry is built for a machine of type 0xf3/],
  ] as [string, (elf: Buffer) => Buffer, RegExp][])('%s is not a function', (_, change, message) => {
    expect(() => builtFunction(changed(change), 'expiry', 'arm64')).toThrow(message);
  });
});
