import { Stack } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { expect, test } from 'vitest';
import { accept } from '../lib/accept.ts';
import { checkRules } from '../lib/rules.ts';
import { newApp } from './stack.ts';

/** A queue that is nobody's dead-letter queue and has none. */
function appWithQueue(also?: (queue: Queue) => void) {
  const app = newApp();
  checkRules(app);
  const queue = new Queue(new Stack(app, 'Stack'), 'Queue', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });
  also?.(queue);
  return app;
}

test('a finding that nobody has accepted ends the synthesis', () => {
  expect(() => appWithQueue().synth()).toThrow();
});

test('one that is accepted with its reason does not', () => {
  expect(() => appWithQueue((queue) => accept(queue, 'SQS3', 'A test.')).synth()).not.toThrow();
});

test('a reason is for its own rule', () => {
  expect(() => appWithQueue((queue) => accept(queue, 'SQS4', 'A test.')).synth()).toThrow();
});
