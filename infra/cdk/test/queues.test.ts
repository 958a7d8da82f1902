import { describe, expect, test } from 'vitest';
import { FUNCTIONS, type FunctionName } from '../lib/functions.ts';
import { DEPLOYED, functionNamed, type Json, resources, synthesized, target } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const queues = resources(template, 'AWS::SQS::Queue');
const alarms = resources(template, 'AWS::CloudWatch::Alarm');
const mappings = resources(template, 'AWS::Lambda::EventSourceMapping');

const short = (queue: { properties: { QueueName: string } }): string =>
  queue.properties.QueueName.replace(`${settings.name}-`, '');
const byId = (id: string) => queues.find((queue) => queue.id === id)!;
const named = (name: string) => queues.find((queue) => short(queue) === name)!;
const deadLetters = (queue: (typeof queues)[number]) =>
  queue.properties.RedrivePolicy && {
    to: short(byId(target(queue.properties.RedrivePolicy.deadLetterTargetArn))),
    after: queue.properties.RedrivePolicy.maxReceiveCount,
  };
const alarmsOn = (queue: (typeof queues)[number]) =>
  alarms.filter((alarm) =>
    alarm.properties.Dimensions?.some((each: Json) => target(each.Value) === queue.id),
  );

test('the queues are these', () => {
  expect(queues.map(short).sort()).toEqual([
    'emitter-failures',
    'expiry',
    'expiry-dlq',
    'notifier-failures',
    'orders',
    'orders-dlq',
    'quarantine',
    'rebuilds',
    'webhook',
    'webhook-dlq',
    'winners',
    'winners-dlq',
  ]);
});

test('orders, expiry, winners and webhook have dead-letter queues', () => {
  expect(deadLetters(named('orders'))).toEqual({ to: 'orders-dlq', after: 4 });
  expect(deadLetters(named('expiry'))).toEqual({ to: 'expiry-dlq', after: 10 });
  expect(deadLetters(named('winners'))).toEqual({ to: 'winners-dlq', after: 10 });
  expect(deadLetters(named('webhook'))).toEqual({ to: 'webhook-dlq', after: 10 });
});

test('a queue without dead letters has an alarm for the first message, unless its messages may be lost', () => {
  for (const queue of queues.filter((each) => deadLetters(each) === undefined && short(each) !== 'rebuilds')) {
    const visible = alarmsOn(queue).filter(
      (alarm) => alarm.properties.MetricName === 'ApproximateNumberOfMessagesVisible',
    );
    expect(visible, short(queue)).toHaveLength(1);
    expect(visible[0]!.properties).toMatchObject({
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
    });
  }
});

test('orders has an alarm on its oldest message', () => {
  expect(alarmsOn(named('orders')).map((alarm) => alarm.properties.MetricName)).toEqual([
    'ApproximateAgeOfOldestMessage',
  ]);
});

test('dead letters raise an alarm although dead_letter takes them at once', () => {
  const metrics = alarmsOn(named('orders-dlq')).map((alarm) => alarm.properties.MetricName);
  expect(metrics.sort()).toEqual(['ApproximateNumberOfMessagesVisible', 'NumberOfMessagesReceived']);
});

describe('every queue', () => {
  test.each(queues.map((queue) => [short(queue), queue] as const))('%s keeps messages for 14 days, or until they say nothing any more; encrypted', (name, queue) => {
    expect(queue.properties.MessageRetentionPeriod).toBe(name === 'rebuilds' ? 60 : 14 * 24 * 3600);
    expect(queue.properties.SqsManagedSseEnabled).toBe(true);
  });

  test('refuses plain HTTP, except on this machine', () => {
    const policies = resources(template, 'AWS::SQS::QueuePolicy');
    expect(policies.flatMap((policy) => policy.properties.Queues.map(target)).sort()).toEqual(
      queues.map((queue) => queue.id).sort(),
    );
    for (const policy of policies) {
      expect(policy.properties.PolicyDocument.Statement).toEqual([
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ]);
    }
    synthesized(DEPLOYED.local).resourceCountIs('AWS::SQS::QueuePolicy', 0);
  });
});

describe('consumers', () => {
  const CONSUMERS: [string, FunctionName, number | undefined][] = [
    ['orders', 'order', settings.orderConcurrency],
    ['orders-dlq', 'dead_letter', settings.reservedConcurrency!.functions.dead_letter],
    ['expiry', 'expiry', settings.reservedConcurrency!.functions.expiry],
    ['rebuilds', 'warmup', 2],
    ['winners', 'winners', 2],
    ['webhook', 'webhook', settings.reservedConcurrency!.functions.webhook],
  ];

  test.each(CONSUMERS)('%s is read by %s in batches that report each failure', (queue, name, concurrency) => {
    const mapping = mappings.find((each) => target(each.properties.EventSourceArn) === named(queue).id)!;
    expect(target(mapping.properties.FunctionName)).toBe(functionNamed(template, name, settings).id);
    expect(mapping.properties.BatchSize).toBe(10);
    expect(mapping.properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    expect(mapping.properties.ScalingConfig?.MaximumConcurrency).toBe(concurrency);
  });

  test('there are no others', () => {
    const ofQueues = mappings.filter((each) => byId(target(each.properties.EventSourceArn)) !== undefined);
    expect(ofQueues).toHaveLength(CONSUMERS.length);
  });

  test.each(CONSUMERS)('%s hides a message for six times the timeout of %s', (queue, name) => {
    const { Timeout } = functionNamed(template, name, settings).properties;
    expect(Timeout).toBe(FUNCTIONS[name].timeout_s);
    expect(named(queue).properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout);
  });

  test('expiry may call itself for longer than Lambda lets loops run', () => {
    expect(functionNamed(template, 'expiry', settings).properties.RecursiveLoop).toBe('Allow');
    expect(functionNamed(template, 'order', settings).properties).not.toHaveProperty('RecursiveLoop');
  });
});
