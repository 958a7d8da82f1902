import { Duration } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import { eachOf, graph, type Part, published } from './dashboard.ts';
import type { Settings } from './settings.ts';

/** What one run finds, it repairs. */
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
  alarms.ringAt('outbox-too-old', once('OutboxAge'), OUTBOX_S, { periods: 2 });
  const places = ['UnitsFree', 'UnitsHeld', 'UnitsOrdered'];
  return {
    title: 'Units',
    graphs: [
      graph(
        'Units by place',
        places.map((name) => eachOf(settings, name, 'Round', Stats.MAXIMUM)),
      ),
      graph('Units adrift, oversold', [once('UnitsAdrift'), once('UnitsOversold')]),
      graph('Oldest reservation without an order, s', [once('OutboxAge')]),
      graph('Repaired', [once('Repairs'), once('MessagesSentAgain'), once('RoundsRebuilt')]),
      graph('Not repaired', [once('ReconciliationFailures'), once('OrdersOverdue')]),
    ],
  };
}
