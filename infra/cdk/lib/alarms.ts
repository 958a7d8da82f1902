import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** Every alarm. `docs/runbook.md` has an entry for each, under the same name. */
export const ALARMS = {
  'orders-too-old': 'An order message has waited for two minutes: consumers are too few or failing.',
  'orders-dlq-arrivals': 'An order could not be made within a minute; dead_letter keeps trying.',
  'orders-dlq-not-empty': 'A dead letter is waiting: the function dead_letter does not succeed.',
  'quarantine-not-empty': 'An unreadable message was kept for inspection.',
  'expiry-dlq-not-empty': 'An expiry could not be handled; the order may hold its unit for too long.',
  'notifier-failures-not-empty': 'Connected buyers were not notified of some orders; they see them when they poll.',
  'emitter-failures-not-empty': "An event did not reach the merchant's systems.",
  'units-oversold': 'Two live orders have the same unit, which the ledger should have made impossible.',
  'units-adrift': 'Units are in no place or in two, and reconciliation has not repaired it for five minutes.',
  'rounds-rebuilt': 'Redis had lost an open round; it was rebuilt from the ledger.',
  'reconciliation-failing': 'Reconciliation has not completed for five minutes.',
  'reconciliation-silent': 'Reconciliation has not reported for five minutes.',
  'outbox-too-old': 'A reservation has waited for its order for two minutes, although its message was sent again.',
  'orders-overdue': 'Overdue orders have not been expired for five minutes.',
  'winners-dlq-not-empty': 'The gift service refused a winner ten times.',
  'webhook-dlq-not-empty': "The merchant's address refused an event ten times in 14 hours.",
  'draws-late': 'A draw is not done half an hour after its round, or a round waits for its beacon to open, for five minutes.',
  'entries-late': 'An entry arrived after the draw of its round had begun, and failed.',
  'payments-mismatched': 'A payment was reported for a second order, or again with another amount; nothing was written.',
  'sale-busy': 'A sale gets at least twice as many requests as expected.',
  'functions-throttled': 'Lambda refused requests from buyers: too many functions are running at once.',
  'door-failing': 'Functions that answer buyers failed ten times in a minute.',
  'workers-failing': 'Functions behind the queues failed ten times in a minute.',
  'schedules-failing': 'A function that runs every minute failed three times in five minutes.',
  'gateway-5xx': 'Ten answers in a minute were 500 or above.',
  'push-failing': 'The WebSocket API could not reach its function ten times in a minute.',
  'notifier-late': 'Connected buyers are notified of their orders half a minute late.',
  'emitter-late': "Events reach the merchant's systems half a minute late.",
  'table-throttled': 'DynamoDB throttled reads or writes.',
  'redis-busy': 'A node of Redis has been busy for 80 % of the time for two minutes.',
  'redis-full': 'The memory of a node of Redis is three quarters full.',
  'redis-evicting': 'Redis evicted keys, which its settings forbid.',
  'redis-crowded': 'A node of Redis has 50,000 of at most 65,000 connections.',
} as const;

export type AlarmId = keyof typeof ALARMS;

/** The alarms of `essential`: on AWS's own metrics, about what a person has to look at. */
export const ESSENTIAL: AlarmId[] = ['quarantine-not-empty'];

/** A single failure is no reason to wake anybody. */
export const FAILURES_A_MINUTE = 10;

export const ALARM_IDS = Object.keys(ALARMS) as AlarmId[];

export interface AlarmOptions extends Partial<Pick<cloudwatch.AlarmProps, 'evaluationPeriods' | 'comparisonOperator' | 'treatMissingData'>> {
  /** One of several things of a kind, each with its own alarm under one entry of the runbook. */
  part?: string;
}

/** Creates the alarms, which all notify one topic. */
export class Alarms extends Construct {
  readonly all: cloudwatch.IAlarm[] = [];
  readonly topic: sns.Topic;
  private readonly made = new Map<AlarmId, cloudwatch.IAlarm[]>();
  private readonly settings: Settings;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.settings = settings;
    this.topic = new sns.Topic(this, 'Topic', { topicName: `${settings.name}-alarms`, enforceSSL: settings.emulator === undefined });
    // Adding a policy to a topic removes the default one that lets CloudWatch in.
    this.topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    if (settings.alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(settings.alarmEmail));
  }

  /**
   * Rings as soon as `metric` is at or above `threshold` once, unless the options say otherwise. SQS sends nothing for an idle queue,
   * which must not ring.
   */
  ringAt(id: AlarmId, metric: cloudwatch.IMetric, threshold: number, { part, ...more }: AlarmOptions = {}): void {
    if (this.settings.observability !== 'full' && !ESSENTIAL.includes(id)) return;
    const name = part === undefined ? id : `${id}-${part}`;
    const alarm = new cloudwatch.Alarm(this, name, {
      alarmName: `${this.settings.name}-${name}`,
      alarmDescription: ALARMS[id],
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      ...more,
    });
    this.all.push(alarm);
    this.made.set(id, [...this.named(id), alarm]);
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
  }

  /** The alarms with these names. */
  named(...ids: AlarmId[]): cloudwatch.IAlarm[] {
    return ids.flatMap((id) => this.made.get(id) ?? []);
  }
}
