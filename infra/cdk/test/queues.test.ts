import { describe, expect, test } from 'vitest';
import { FUNCTIONS, type FunctionName } from '../lib/functions.ts';
import { DEPLOYED, functionNamed, type Json, queueOf, resources, sourceOf, synthesized, target } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const queues = resources(template, 'AWS::SQS::Queue');
const alarms = resources(template, 'AWS::CloudWatch::Alarm');
const mappings = resources(template, 'AWS::Lambda::EventSourceMapping');

const short = (queue: { properties: { QueueName: string } }): string => queue.properties.QueueName.replace(`${settings.name}-`, '');
const byId = (id: string) => queues.find((queue) => queue.id === id)!;
const named = (name: string) => queues.find((queue) => short(queue) === name)!;
const deadLetters = ({ properties: { RedrivePolicy: policy } }: (typeof queues)[number]) =>
  policy && { to: queueOf(template, policy.deadLetterTargetArn, settings), after: policy.maxReceiveCount };
const alarmsOn = (queue: (typeof queues)[number]) =>
  alarms.filter((alarm) => alarm.properties.Dimensions?.some((each: Json) => target(each.Value) === queue.id));

test.each([
  ['orders', 4],
  ['expiry', 10],
  ['winners', 10],
  ['webhook', 10],
])('%s has dead letters after %d attempts', (name, after) => {
  expect(deadLetters(named(name))).toEqual({ to: `${name}-dlq`, after });
});

test('a queue without dead letters has an alarm for the first message, unless its messages may be lost', () => {
  for (const queue of queues.filter((each) => deadLetters(each) === undefined && short(each) !== 'rebuilds')) {
    const visible = alarmsOn(queue).filter((alarm) => alarm.properties.MetricName === 'ApproximateNumberOfMessagesVisible');
    expect(visible, short(queue)).toHaveLength(1);
    expect(visible[0]!.properties).toMatchObject({
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
    });
  }
});

test.each([
  ['orders', ['ApproximateAgeOfOldestMessage']],
  // Although dead_letter takes them at once.
  ['orders-dlq', ['ApproximateNumberOfMessagesVisible', 'NumberOfMessagesReceived']],
])('%s has alarms on %j', (name, metrics) => {
  expect(alarmsOn(named(name)).map((alarm) => alarm.properties.MetricName).sort()).toEqual(metrics);
});

// cdk-nag requires TLS of every queue on AWS; the emulator has none.
test('every queue keeps messages for 14 days, or until they say nothing any more; encrypted', () => {
  for (const { properties } of queues) {
    const kept_s = short({ properties }) === 'rebuilds' ? 60 : 14 * 24 * 3600;
    expect(properties).toMatchObject({ MessageRetentionPeriod: kept_s, SqsManagedSseEnabled: true });
  }
  synthesized(DEPLOYED.local).resourceCountIs('AWS::SQS::QueuePolicy', 0);
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

  test.each(CONSUMERS)('%s is read by %s in batches that report each failure, and hides a message for six times its timeout', (queue, name, concurrency) => {
    const mapping = sourceOf(template, name, settings);
    expect([queueOf(template, mapping.EventSourceArn, settings), mapping.BatchSize]).toEqual([queue, 10]);
    expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    expect(mapping.ScalingConfig?.MaximumConcurrency).toBe(concurrency);
    expect(named(queue).properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * FUNCTIONS[name].timeout_s);
  });

  test('there are no others', () => {
    const ofQueues = mappings.filter((each) => byId(target(each.properties.EventSourceArn)) !== undefined);
    expect(ofQueues).toHaveLength(CONSUMERS.length);
  });

  test('expiry may call itself for longer than Lambda lets loops run', () => {
    expect(functionNamed(template, 'expiry', settings).properties.RecursiveLoop).toBe('Allow');
    expect(functionNamed(template, 'order', settings).properties).not.toHaveProperty('RecursiveLoop');
  });
});
