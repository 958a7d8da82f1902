import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Alarms } from './alarms.ts';
import { graph, type Part } from './dashboard.ts';
import { MessageQueue } from './message-queue.ts';
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

    // No second dead-letter queue behind it: what dead_letter cannot handle comes back when the visibility timeout ends, however
    // often it was received. So an outage may last for as long as SQS keeps a message.
    this.ordersDlq = new MessageQueue(this, 'OrdersDlq', {
      settings,
      name: 'orders-dlq',
      urlVariable: 'ORDERS_DLQ_URL',
      consumer: 'dead_letter',
    });
    this.ordersDlq.alarmOnArrivals(alarms, 'orders-dlq-arrivals');
    this.ordersDlq.alarmWhenNotEmpty(alarms, 'orders-dlq-not-empty');

    this.orders = new MessageQueue(this, 'Orders', {
      settings,
      name: 'orders',
      urlVariable: 'ORDERS_QUEUE_URL',
      consumer: 'order',
      deadLetters: { queue: this.ordersDlq, afterReceives: ORDER_TRIES },
    });
    this.orders.alarmWhenOlderThan(alarms, 'orders-too-old', ORDER_WAIT_S);

    this.quarantine = new MessageQueue(this, 'Quarantine', {
      settings,
      name: 'quarantine',
      urlVariable: 'QUARANTINE_QUEUE_URL',
      endOfTheLine: 'A person reads it, and it raises an alarm.',
    });
    this.quarantine.alarmWhenNotEmpty(alarms, 'quarantine-not-empty');

    this.expiryDlq = new MessageQueue(this, 'ExpiryDlq', {
      settings,
      name: 'expiry-dlq',
      urlVariable: 'EXPIRY_DLQ_URL',
    });
    this.expiryDlq.alarmWhenNotEmpty(alarms, 'expiry-dlq-not-empty');

    this.expiry = new MessageQueue(this, 'Expiry', {
      settings,
      name: 'expiry',
      urlVariable: 'EXPIRY_QUEUE_URL',
      consumer: 'expiry',
      deadLetters: { queue: this.expiryDlq, afterReceives: EXPIRY_TRIES },
    });

    // Hints that are worthless once their buyers have asked again.
    this.rebuilds = new MessageQueue(this, 'Rebuilds', {
      settings,
      name: 'rebuilds',
      urlVariable: 'REBUILDS_QUEUE_URL',
      consumer: 'warmup',
      retention_s: REBUILD_KEPT_S,
      endOfTheLine: 'Buyers repeat what is lost every second, and each scheduled run looks anyway.',
    });

    this.winnersDlq = new MessageQueue(this, 'WinnersDlq', {
      settings,
      name: 'winners-dlq',
      urlVariable: 'WINNERS_DLQ_URL',
    });
    this.winnersDlq.alarmWhenNotEmpty(alarms, 'winners-dlq-not-empty');

    this.winners = new MessageQueue(this, 'Winners', {
      settings,
      name: 'winners',
      urlVariable: 'WINNERS_QUEUE_URL',
      consumer: 'winners',
      deadLetters: { queue: this.winnersDlq, afterReceives: WINNER_TRIES },
    });

    this.webhookDlq = new MessageQueue(this, 'WebhookDlq', {
      settings,
      name: 'webhook-dlq',
      urlVariable: 'WEBHOOK_DLQ_URL',
    });
    this.webhookDlq.alarmWhenNotEmpty(alarms, 'webhook-dlq-not-empty');

    this.webhook = new MessageQueue(this, 'Webhook', {
      settings,
      name: 'webhook',
      urlVariable: 'WEBHOOK_QUEUE_URL',
      consumer: 'webhook',
      deadLetters: { queue: this.webhookDlq, afterReceives: WEBHOOK_TRIES },
    });

    this.notifierFailures = new MessageQueue(this, 'NotifierFailures', {
      settings,
      name: 'notifier-failures',
      endOfTheLine: 'Dead letters of a stream, while the rule expects those of a queue. It raises an alarm.',
    });
    this.notifierFailures.alarmWhenNotEmpty(alarms, 'notifier-failures-not-empty');

    this.emitterFailures = new MessageQueue(this, 'EmitterFailures', {
      settings,
      name: 'emitter-failures',
      urlVariable: 'EMITTER_FAILURES_QUEUE_URL',
      endOfTheLine: 'Dead letters of a stream, while the rule expects those of a queue. It raises an alarm.',
    });
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
        graph(
          'Waiting',
          each(moving, (queue) => queue.waiting()),
        ),
        graph(
          'Being worked on',
          each(moving, (queue) => queue.inFlight()),
        ),
        graph(
          'Oldest message, s',
          each(moving, (queue) => queue.oldest()),
        ),
        graph(
          'Dead letters',
          each(still, (queue) => queue.waiting()),
        ),
        graph(
          'Oldest dead letter, s',
          each(still, (queue) => queue.oldest()),
        ),
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
