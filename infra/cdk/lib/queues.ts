import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Alarms } from './alarms.ts';
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
/** A buyer notices an order that takes this long. */
const ORDER_WAIT_S = 120;

/** SQS's minimum, and the time until the next scheduled run. */
const REBUILD_KEPT_S = 60;

/** All queues. Each has a dead-letter queue, or is the end of the line with an alarm; messages of `rebuilds` may be lost. */
export class Queues extends Construct {
  readonly orders: MessageQueue;
  readonly ordersDlq: MessageQueue;
  readonly quarantine: MessageQueue;
  readonly expiry: MessageQueue;
  readonly expiryDlq: MessageQueue;
  readonly rebuilds: MessageQueue;
  readonly winners: MessageQueue;
  readonly winnersDlq: MessageQueue;
  readonly webhook: MessageQueue;
  readonly webhookDlq: MessageQueue;
  readonly notifierFailures: MessageQueue;
  readonly emitterFailures: MessageQueue;

  constructor(scope: Construct, id: string, settings: Settings, alarms: Alarms) {
    super(scope, id);
    const make = (id: string, name: string, urlVariable?: string, more: Partial<MessageQueueProps> = {}): MessageQueue =>
      new MessageQueue(this, id, { settings, name, urlVariable, ...more });
    const deadLetters = (queue: MessageQueue, afterReceives: number) => ({ deadLetters: { queue, afterReceives } });

    // No second dead-letter queue behind it: what dead_letter cannot handle comes back when the visibility timeout ends, however
    // often it was received. So an outage may last for as long as SQS keeps a message.
    this.ordersDlq = make('OrdersDlq', 'orders-dlq', 'ORDERS_DLQ_URL', { consumer: 'dead_letter' });
    this.orders = make('Orders', 'orders', 'ORDERS_QUEUE_URL', { consumer: 'order', ...deadLetters(this.ordersDlq, ORDER_TRIES) });
    this.quarantine = make('Quarantine', 'quarantine', 'QUARANTINE_QUEUE_URL', {
      endOfTheLine: 'A person reads it, and it raises an alarm.',
    });
    this.expiryDlq = make('ExpiryDlq', 'expiry-dlq', 'EXPIRY_DLQ_URL');
    this.expiry = make('Expiry', 'expiry', 'EXPIRY_QUEUE_URL', { consumer: 'expiry', ...deadLetters(this.expiryDlq, EXPIRY_TRIES) });
    // Hints that are worthless once their buyers have asked again.
    this.rebuilds = make('Rebuilds', 'rebuilds', 'REBUILDS_QUEUE_URL', {
      consumer: 'warmup',
      retention_s: REBUILD_KEPT_S,
      endOfTheLine: 'Buyers repeat what is lost every second, and each scheduled run looks anyway.',
    });
    this.winnersDlq = make('WinnersDlq', 'winners-dlq', 'WINNERS_DLQ_URL');
    this.winners = make('Winners', 'winners', 'WINNERS_QUEUE_URL', { consumer: 'winners', ...deadLetters(this.winnersDlq, WINNER_TRIES) });
    this.webhookDlq = make('WebhookDlq', 'webhook-dlq', 'WEBHOOK_DLQ_URL');
    this.webhook = make('Webhook', 'webhook', 'WEBHOOK_QUEUE_URL', { consumer: 'webhook', ...deadLetters(this.webhookDlq, WEBHOOK_TRIES) });
    const ofAStream = { endOfTheLine: 'Dead letters of a stream, while the rule expects those of a queue. It raises an alarm.' };
    this.notifierFailures = make('NotifierFailures', 'notifier-failures', undefined, ofAStream);
    this.emitterFailures = make('EmitterFailures', 'emitter-failures', 'EMITTER_FAILURES_QUEUE_URL', ofAStream);

    this.ordersDlq.alarmOnArrivals(alarms, 'orders-dlq-arrivals');
    this.ordersDlq.alarmWhenNotEmpty(alarms, 'orders-dlq-not-empty');
    this.orders.alarmWhenOlderThan(alarms, 'orders-too-old', ORDER_WAIT_S);
    this.quarantine.alarmWhenNotEmpty(alarms, 'quarantine-not-empty');
    this.expiryDlq.alarmWhenNotEmpty(alarms, 'expiry-dlq-not-empty');
    this.winnersDlq.alarmWhenNotEmpty(alarms, 'winners-dlq-not-empty');
    this.webhookDlq.alarmWhenNotEmpty(alarms, 'webhook-dlq-not-empty');
    this.notifierFailures.alarmWhenNotEmpty(alarms, 'notifier-failures-not-empty');
    this.emitterFailures.alarmWhenNotEmpty(alarms, 'emitter-failures-not-empty');
  }

  /** The queues' part of the dashboard. */
  part(): Part {
    const each = (queues: MessageQueue[], of: (queue: MessageQueue) => Metric): Metric[] =>
      queues.map((queue) => of(queue).with({ label: queue.name }));
    const moving = [this.orders, this.expiry, this.rebuilds, this.winners, this.webhook];
    const parked = [this.quarantine, this.notifierFailures, this.emitterFailures];
    const still = [this.ordersDlq, this.expiryDlq, this.winnersDlq, this.webhookDlq, ...parked];
    return {
      title: 'Queues',
      graphs: [
        graph('Waiting', each(moving, (queue) => queue.waiting())),
        graph('Being worked on', each(moving, (queue) => queue.inFlight())),
        graph('Oldest message, s', each(moving, (queue) => queue.oldest())),
        graph('Dead letters', each(still, (queue) => queue.waiting())),
        graph('Oldest dead letter, s', each(still, (queue) => queue.oldest())),
      ],
    };
  }

  /** Lets the operators' function send dead letters back. */
  redriveFrom(admin: RustFunction): void {
    const { ordersDlq, expiryDlq, winnersDlq, webhookDlq, quarantine } = this;
    for (const from of [ordersDlq, expiryDlq, winnersDlq, webhookDlq, quarantine]) from.emptyWith(admin);
    for (const to of [this.orders, this.expiry, this.winners, this.webhook]) to.sendFrom(admin);
  }

  /** Lets the operators' function count the messages of these queues too, and not only dead letters. */
  watchFrom(admin: RustFunction): void {
    for (const queue of [this.orders, this.expiry]) queue.countWith(admin);
  }
}
