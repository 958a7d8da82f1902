import { Duration } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { accept } from './cdk.ts';
import { PERIOD } from './dashboard.ts';
import { FUNCTIONS, type FunctionName, VISIBILITY_PER_TIMEOUT } from './functions.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// SQS's maximum.
const RETENTION_S = 14 * 24 * 60 * 60;
// The most that one invocation takes without a batching window.
const BATCH_SIZE = 10;
// How long a message stays hidden from the next reader.
const READ_BY_HAND_S = 30;

export interface MessageQueueProps {
  settings: Settings;
  name: string;
  /** The environment variable with this queue's URL. */
  urlVariable?: string;
  /** The function that reads it. Without one, a person does. */
  consumer?: FunctionName;
  deadLetters?: { queue: MessageQueue; afterReceives: number };
  /** How long it keeps a message, if that is not as long as possible. */
  retention_s?: number;
  /** Why it has no dead letters, although it is not itself a dead-letter queue. */
  endOfTheLine?: string;
}

/** A queue with its senders and its consumer. */
export class MessageQueue extends Construct {
  readonly name: string;
  readonly url: string;
  readonly queue: sqs.Queue;
  private readonly props: MessageQueueProps;

  constructor(scope: Construct, id: string, props: MessageQueueProps) {
    super(scope, id);
    this.name = props.name;
    this.props = props;
    const visibility_s = props.consumer === undefined ? READ_BY_HAND_S : VISIBILITY_PER_TIMEOUT * FUNCTIONS[props.consumer].timeout_s;
    this.queue = new sqs.Queue(this, 'Queue', {
      queueName: `${props.settings.name}-${props.name}`,
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: props.settings.emulator === undefined,
      retentionPeriod: Duration.seconds(props.retention_s ?? RETENTION_S),
      visibilityTimeout: Duration.seconds(visibility_s),
      deadLetterQueue: props.deadLetters && { queue: props.deadLetters.queue.queue, maxReceiveCount: props.deadLetters.afterReceives },
    });
    this.url = this.queue.queueUrl;
    if (props.endOfTheLine !== undefined) accept(this.queue, 'SQS3', props.endOfTheLine);
  }

  sendFrom(sender: RustFunction): void {
    this.tellUrl(sender);
    sender.allow(['sqs:SendMessage'], [this.queue.queueArn]);
  }

  /** `ownDelays`: the consumer sets when a failed message comes back. `polled`: false if nothing is sent to it for now. */
  consumeWith(consumer: RustFunction, options: { maxConcurrency?: number; ownDelays?: boolean; polled?: boolean } = {}): void {
    // The visibility timeout is derived from the declared consumer's timeout.
    if (consumer.name !== this.props.consumer) {
      throw new Error(`The queue ${this.name} was made for ${this.props.consumer ?? 'no function'}, not for ${consumer.name}`);
    }
    const actions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
    if (options.ownDelays) {
      this.tellUrl(consumer);
      actions.push('sqs:ChangeMessageVisibility');
    }
    consumer.allow(actions, [this.queue.queueArn]);
    new lambda.EventSourceMapping(this, 'Consumer', {
      target: consumer.lambda,
      eventSourceArn: this.queue.queueArn,
      batchSize: BATCH_SIZE,
      reportBatchItemFailures: true,
      enabled: options.polled === false ? false : undefined,
      // Batches beyond the function's concurrency would be throttled, which uses up their messages' attempts.
      maxConcurrency: options.maxConcurrency ?? consumer.reservedConcurrency,
    });
  }

  /** Takes what Lambda gives up on when it feeds a stream to a function. Lambda sends it with that function's role. */
  takeFailuresOf(fn: RustFunction): lambda.IEventSourceDlq {
    fn.allow(['sqs:SendMessage'], [this.queue.queueArn]);
    return { bind: () => ({ destination: this.queue.queueArn }) };
  }

  /** Lets a function count the messages. */
  countWith(counter: RustFunction): void {
    this.tellUrl(counter);
    counter.allow(['sqs:GetQueueAttributes'], [this.queue.queueArn]);
  }

  /** Lets a function move messages elsewhere, and see whether there are more. */
  emptyWith(mover: RustFunction): void {
    this.tellUrl(mover);
    mover.allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], [this.queue.queueArn]);
  }

  metric(metricName: string, statistic: string = Stats.MAXIMUM): Metric {
    return this.queue.metric(metricName, { period: PERIOD, statistic });
  }

  private tellUrl(fn: RustFunction): void {
    if (this.props.urlVariable === undefined) throw new Error(`The queue ${this.name} has no variable for its URL`);
    fn.tell(this.props.urlVariable, this.url);
  }
}
