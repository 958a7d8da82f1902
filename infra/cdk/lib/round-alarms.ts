import { Duration } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import { eachOf, graph, type Part, published } from './dashboard.ts';
import type { Settings } from './settings.ts';

/** What one run of the audit finds, it repairs; where a run of a draw fails, the next one continues. */
const LASTING = Duration.minutes(5);
/** An order message is sent again after a minute, so by then it has been tried twice. */
const OUTBOX_S = 120;

/** Rings when reconciliation's metrics are bad. */
export function watchAudit(settings: Settings, alarms: Alarms): Part {
  const once = (name: string): Metric => published(settings, name, Stats.MAXIMUM);
  const lasting = (name: string): Metric => published(settings, name, Stats.MINIMUM, LASTING);

  alarms.ringAt('units-oversold', once('UnitsOversold'), 1);
  alarms.ringAt('units-adrift', lasting('UnitsAdrift'), 1);
  alarms.ringAt('rounds-rebuilt', once('RoundsRebuilt'), 1);
  alarms.ringAt('reconciliation-failing', lasting('ReconciliationFailures'), 1);
  alarms.ringWhenSilent('reconciliation-silent', lasting('UnitsAdrift'));
  alarms.ringAt('orders-overdue', lasting('OrdersOverdue'), 1);
  alarms.ringAt('outbox-too-old', once('OutboxAge'), OUTBOX_S, { evaluationPeriods: 2 });
  const places = ['UnitsFree', 'UnitsHeld', 'UnitsOrdered'];
  return {
    title: 'Units',
    graphs: [
      graph('Units by place', places.map((name) => eachOf(settings, name, 'Round', Stats.MAXIMUM))),
      graph('Units adrift, oversold', [once('UnitsAdrift'), once('UnitsOversold')]),
      graph('Oldest reservation without an order, s', [once('OutboxAge')]),
      graph('Repaired', [once('Repairs'), once('MessagesSentAgain'), once('RoundsRebuilt')]),
      graph('Not repaired', [once('ReconciliationFailures'), once('OrdersOverdue')]),
    ],
  };
}

/** Rings when the payment provider contradicts itself. */
export function watchPayments(settings: Settings, alarms: Alarms): Part {
  const mismatched = published(settings, 'PaymentsMismatched', Stats.SUM);
  alarms.ringAt('payments-mismatched', mismatched, 1);
  return {
    title: 'Payments',
    graphs: [
      graph('Callbacks by outcome', [eachOf(settings, 'Callbacks', 'Outcome', Stats.SUM)]),
      graph('Payments that contradict themselves', [mismatched]),
      graph('Callbacks with unknown fields', [published(settings, 'CallbacksWithUnknownFields', Stats.SUM)]),
    ],
  };
}

/** Rings when a draw does not finish, or an entry arrives after it has begun. */
export function watchDraws(settings: Settings, alarms: Alarms): Part {
  const late = published(settings, 'DrawsLate', Stats.MINIMUM, LASTING);
  const entries = published(settings, 'EntriesLate', Stats.SUM);
  alarms.ringAt('draws-late', late, 1);
  alarms.ringAt('entries-late', entries, 1);
  return {
    title: 'Draws',
    graphs: [
      graph('Late, and steps that failed', [late, published(settings, 'DrawFailures', Stats.MAXIMUM)]),
      graph('Entries that came too late', [entries]),
    ],
  };
}
