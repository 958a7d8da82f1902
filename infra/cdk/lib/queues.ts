import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { AlarmId, Alarms } from './alarms.ts';
import { graph, type Part } from './dashboard.ts';
import { MessageQueue, type MessageQueueProps } from './message-queue.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

/** The retries after 5 s, 10 s and 30 s end with the fourth attempt. After that dead_letter retries. */
const ORDER_TRIES = 4;
/** An expiry is late rather than wrong, so it may outlive a longer outage. */
const EXPIRY_TRIES = 10;
/** A gift service may be unavailable for half an hour; then an operator sends the winners back. */
const WINNER_TRIES = 10;
/** One more than the length of `RETRY_DELAYS_S` in `functions/webhook`. */
const WEBHOOK_TRIES = 10;
/** SQS's names for the messages that nobody has received, and for the age of the oldest one. */
const WAITING = 'ApproximateNumberOfMessagesVisible';
const AGE_S = 'ApproximateAgeOfOldestMessage';
/** A buyer notices an order that takes this long. */
const ORDER_WAIT_S = 120;

/** SQS's minimum, and the time until the next scheduled run. */
const REBUILD_KEPT_S = 60;

/** All queues. Each has a dead-letter queue, or is the end of the line with an alarm; messages of `rebuilds` may be lost. */
export function makeQueues(stack: Construct, settings: Settings, alarms: Alarms) {
  const scope = new Construct(stack, 'Queues');
  const make = (id: string, name: string, urlVariable?: string, more: Partial<MessageQueueProps> = {}): MessageQueue =>
    new MessageQueue(scope, id, { settings, name, urlVariable, ...more });
  const deadLetters = (queue: MessageQueue, afterReceives: number) => ({ deadLetters: { queue, afterReceives } });

  // No second dead-letter queue behind it: what dead_letter cannot handle comes back when the visibility timeout ends, however
  // often it was received. So an outage may last for as long as SQS keeps a message.
  const ordersDlq = make('OrdersDlq', 'orders-dlq', 'ORDERS_DLQ_URL', { consumer: 'dead_letter' });
  const orders = make('Orders', 'orders', 'ORDERS_QUEUE_URL', { consumer: 'order', ...deadLetters(ordersDlq, ORDER_TRIES) });
  const quarantine = make('Quarantine', 'quarantine', 'QUARANTINE_QUEUE_URL', { endOfTheLine: 'A person reads it, and it raises an alarm.' });
  const expiryDlq = make('ExpiryDlq', 'expiry-dlq', 'EXPIRY_DLQ_URL');
  const expiry = make('Expiry', 'expiry', 'EXPIRY_QUEUE_URL', { consumer: 'expiry', ...deadLetters(expiryDlq, EXPIRY_TRIES) });
  // Hints that are worthless once their buyers have asked again.
  const rebuilds = make('Rebuilds', 'rebuilds', 'REBUILDS_QUEUE_URL', {
    consumer: 'warmup',
    retention_s: REBUILD_KEPT_S,
    endOfTheLine: 'Buyers repeat what is lost every second, and each scheduled run looks anyway.',
  });
  const winnersDlq = make('WinnersDlq', 'winners-dlq', 'WINNERS_DLQ_URL');
  const winners = make('Winners', 'winners', 'WINNERS_QUEUE_URL', { consumer: 'winners', ...deadLetters(winnersDlq, WINNER_TRIES) });
  const webhookDlq = make('WebhookDlq', 'webhook-dlq', 'WEBHOOK_DLQ_URL');
  const webhook = make('Webhook', 'webhook', 'WEBHOOK_QUEUE_URL', { consumer: 'webhook', ...deadLetters(webhookDlq, WEBHOOK_TRIES) });
  const ofAStream = { endOfTheLine: 'Dead letters of a stream, while the rule expects those of a queue. It raises an alarm.' };
  const notifierFailures = make('NotifierFailures', 'notifier-failures', undefined, ofAStream);
  const emitterFailures = make('EmitterFailures', 'emitter-failures', 'EMITTER_FAILURES_QUEUE_URL', ofAStream);

  const moving = [orders, expiry, rebuilds, winners, webhook];
  const sentBack = [ordersDlq, expiryDlq, winnersDlq, webhookDlq, quarantine];
  const still = [...sentBack, notifierFailures, emitterFailures];
  for (const queue of still) alarms.ringAt(`${queue.name}-not-empty` as AlarmId, queue.metric(WAITING), 1);
  // Also of messages that a consumer takes before they could be counted as waiting.
  alarms.ringAt('orders-dlq-arrivals', ordersDlq.metric('NumberOfMessagesReceived', Stats.SUM), 1);
  alarms.ringAt('orders-too-old', orders.metric(AGE_S), ORDER_WAIT_S);

  const each = (queues: MessageQueue[], metric: string): Metric[] => queues.map((queue) => queue.metric(metric).with({ label: queue.name }));
  const part: Part = ['Queues', [
    graph('Waiting', each(moving, WAITING)),
    graph('Being worked on', each(moving, 'ApproximateNumberOfMessagesNotVisible')),
    graph('Oldest message, s', each(moving, AGE_S)),
    graph('Dead letters', each(still, WAITING)),
    graph('Oldest dead letter, s', each(still, AGE_S)),
  ]];

  /** Lets the operators' function send dead letters back, and count the messages of the queues that orders go through. */
  const operateFrom = (admin: RustFunction): void => {
    for (const from of sentBack) from.emptyWith(admin);
    for (const to of [orders, expiry, winners, webhook]) to.sendFrom(admin);
    for (const queue of [orders, expiry]) queue.countWith(admin);
  };

  return {
    ...{ orders, ordersDlq, quarantine, expiry, expiryDlq, rebuilds, winners, winnersDlq, webhook, webhookDlq, notifierFailures, emitterFailures },
    ...{ part, operateFrom },
  };
}
