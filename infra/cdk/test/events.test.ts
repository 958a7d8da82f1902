import { describe, expect, test } from 'vitest';
import { EVENT_SOURCE } from '../lib/event-bus.ts';
import { read } from '../openapi/files.js';
import { DEPLOYED, type Json, only, queueOf, resources, sourceOf, synthesized, target, variablesOf } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const URL = 'https://shop.example.com/events';
const sending = synthesized({ ...settings, webhookUrl: URL });

test('the bus has the name of the deployment, and emitter puts events on it', () => {
  expect(only(template, 'AWS::Events::EventBus').properties.Name).toBe(`${settings.name}-events`);
  const { EVENT_BUS_NAME } = variablesOf(template, 'emitter', settings);
  expect(target(EVENT_BUS_NAME)).toBe(only(template, 'AWS::Events::EventBus').id);
});

// What the ledger makes facts of.
const FACTS = [...read('shared/ledger/src/keys.rs').matchAll(/_BEGIN: &str = "(.*)";/g)].map(([, prefix]) => ({ prefix }));

test.each([
  // Buyers poll after a while, so old news is given up.
  ['notifier', [{ prefix: 'ORDER#' }], { StartingPosition: 'LATEST', MaximumRetryAttempts: 3, MaximumRecordAgeInSeconds: 60 }],
  // From the oldest record on, until shortly before the stream drops it.
  ['emitter', FACTS, { StartingPosition: 'TRIM_HORIZON', MaximumRetryAttempts: undefined, MaximumRecordAgeInSeconds: 22 * 3600 }],
] as const)('the table feeds %s in order', (name, prefixes, { MaximumRetryAttempts, ...how }) => {
  expect(FACTS.length).toBeGreaterThan(2);
  const feed = sourceOf(template, name, settings);
  expect(feed).toMatchObject({
    EventSourceArn: { 'Fn::GetAtt': [only(template, 'AWS::DynamoDB::Table').id, 'StreamArn'] },
    BatchSize: 100,
    ParallelizationFactor: 1,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BisectBatchOnFunctionError: true,
    FilterCriteria: { Filters: [{ Pattern: JSON.stringify({ eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: prefixes } } } }) }] },
    ...how,
  });
  expect(feed.MaximumRetryAttempts).toBe(MaximumRetryAttempts);
  expect(queueOf(template, feed.DestinationConfig.OnFailure.Destination, settings)).toBe(`${name}-failures`);
});

describe('an address for events', () => {
  test('is optional: without one, nothing is sent', () => {
    template.resourceCountIs('AWS::Events::Rule', 0);
    expect(variablesOf(template, 'webhook', settings)).not.toHaveProperty('WEBHOOK_URL');
  });

  test('gets every event of the bus through a queue', () => {
    expect(variablesOf(sending, 'webhook', settings).WEBHOOK_URL).toBe(URL);
    const { properties } = only(sending, 'AWS::Events::Rule');
    expect(target(properties.EventBusName)).toBe(only(sending, 'AWS::Events::EventBus').id);
    expect(properties).toMatchObject({ EventPattern: { source: [EVENT_SOURCE] }, State: 'ENABLED' });
    expect(read('functions/emitter/src/bus.rs')).toContain(`const SOURCE: &str = "${EVENT_SOURCE}";`);
    const [queue, ...others] = properties.Targets;
    expect(others).toEqual([]);
    expect([queueOf(sending, queue.Arn, settings), queueOf(sending, queue.DeadLetterConfig.Arn, settings)]).toEqual(['webhook', 'webhook-dlq']);
    expect(queue).not.toHaveProperty('InputPath');
  });

  test('is fed only by EventBridge, for this rule', () => {
    const rule = only(sending, 'AWS::Events::Rule').id;
    const allowed = resources(sending, 'AWS::SQS::QueuePolicy').flatMap(({ properties }) =>
      properties.PolicyDocument.Statement.filter((each: Json) => each.Effect === 'Allow').map((each: Json) => [
        queueOf(sending, properties.Queues[0], settings),
        each.Principal.Service,
        [each.Action].flat().includes('sqs:SendMessage'),
        target(each.Condition.ArnEquals['aws:SourceArn']),
      ]),
    );
    expect(allowed.sort()).toEqual([
      ['webhook', 'events.amazonaws.com', true, rule],
      ['webhook-dlq', 'events.amazonaws.com', true, rule],
    ]);
  });

  test('is tried as often as the queue delivers a message', () => {
    const [, delays] = read('functions/webhook/src/lib.rs').match(/RETRY_DELAYS_S: \[u32; (\d+)\]/)!;
    const queue = resources(template, 'AWS::SQS::Queue').find(({ properties }) => properties.QueueName === `${settings.name}-webhook`)!;
    expect(queue.properties.RedrivePolicy.maxReceiveCount).toBe(Number(delays) + 1);
  });
});
