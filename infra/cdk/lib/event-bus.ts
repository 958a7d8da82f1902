import { EventBus as Bus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { MessageQueue } from './message-queue.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

/** The source of the events on the bus: `SOURCE` in `functions/emitter`. */
export const EVENT_SOURCE = 'flash-sale';

/** The bus that delivers events to the merchant's systems, which bring their own rules. */
export class EventBus extends Construct {
  readonly name: string;
  private readonly bus: Bus;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.bus = new Bus(this, 'Bus', {
      eventBusName: `${settings.name}-events`,
      description: "Events about orders and rounds, for the merchant's systems",
    });
    this.name = this.bus.eventBusName;
  }

  putFrom(fn: RustFunction): void {
    fn.tell('EVENT_BUS_NAME', this.name);
    fn.allow(['events:PutEvents'], [this.bus.eventBusArn]);
  }

  /** Sends every event to a queue, and to `deadLetters` those that EventBridge has failed to deliver for a day. */
  fill({ queue }: MessageQueue, deadLetters: MessageQueue): void {
    const rule = new Rule(this, 'ToWebhook', {
      eventBus: this.bus,
      description: "Sends every event to the merchant's address",
      eventPattern: { source: [EVENT_SOURCE] },
    });
    rule.addTarget(new SqsQueue(queue, { deadLetterQueue: deadLetters.queue }));
  }
}
