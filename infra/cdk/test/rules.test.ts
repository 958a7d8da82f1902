import { Stack } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { expect, test } from 'vitest';
import { accept } from '../lib/cdk.ts';
import { checkRules } from '../lib/rules.ts';
import { newApp } from './stack.ts';

/** An app with a queue that neither is nor has a dead-letter queue. */
function appWithQueue(also?: (queue: Queue) => void) {
  const app = newApp();
  checkRules(app);
  const queue = new Queue(new Stack(app, 'Stack'), 'Queue', { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true });
  also?.(queue);
  return app;
}

test('an unaccepted finding fails the synthesis', () => {
  expect(() => appWithQueue().synth()).toThrow();
});

test('one accepted with a reason does not', () => {
  expect(() => appWithQueue((queue) => accept(queue, 'SQS3', 'A test.')).synth()).not.toThrow();
});

test('a reason only counts for its own rule', () => {
  expect(() => appWithQueue((queue) => accept(queue, 'SQS4', 'A test.')).synth()).toThrow();
});
