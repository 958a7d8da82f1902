import { Stack } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { expect, test } from 'vitest';
import { accept, checkRules } from '../lib/cdk.ts';
import { newApp } from './stack.ts';

test.each([
  ['an unaccepted finding fails the synthesis', undefined, false],
  ['one accepted with a reason does not', 'SQS3', true],
  ['a reason only counts for its own rule', 'SQS4', false],
] as const)('%s', async (_, accepted, passes) => {
  const app = newApp();
  await checkRules(app);
  // It neither is nor has a dead-letter queue.
  const queue = new Queue(new Stack(app, 'Stack'), 'Queue', { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true });
  if (accepted !== undefined) accept(queue, accepted, 'A test.');
  const synthesis = expect(() => app.synth());
  if (passes) synthesis.not.toThrow();
  else synthesis.toThrow();
});
