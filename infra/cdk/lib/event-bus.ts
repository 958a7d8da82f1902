import { EventBus as Bus, Rule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import type { MessageQueue } from './message-queue.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

/** Who says what is on the bus: `SOURCE` of `functions/emitter`. */
export const EVENT_SOURCE = 'flash-sale';

/** The bus on which the merchant's systems hear what happens. They bring rules of their own. */
export class EventBus extends Construct {
  readonly name: string;
  private readonly bus: Bus;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.bus = new Bus(this, 'Bus', {
      eventBusName: `${settings.name}-events`,
      description: "What happens to orders and rounds, for the merchant's systems",
    });
    this.name = this.bus.eventBusName;
  }

  putFrom(fn: RustFunction): void {
    fn.tell('EVENT_BUS_NAME', this.name);
    fn.allow(['events:PutEvents'], [this.bus.eventBusArn]);
  }

  /** Puts every event into a queue, and what cannot be put there into `deadLetters`. */
  fill(queue: MessageQueue, deadLetters: MessageQueue): void {
    const rule = new Rule(this, 'ToWebhook', {
      eventBus: this.bus,
      description: "Sends every event to the merchant's address",
      eventPattern: { source: [EVENT_SOURCE] },
    });
    queue.takeFrom(rule, deadLetters);
  }
}
