import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import { eachOf, graph, type Part } from './dashboard.ts';
import type { Settings } from './settings.ts';

const PERIOD = Duration.minutes(1);

/** Rings when the payment provider contradicts itself. */
export function watchPayments(settings: Settings, alarms: Alarms): Part {
  const sum = (metricName: string): Metric =>
    new Metric({ namespace: settings.name, metricName, statistic: Stats.SUM, period: PERIOD });
  const mismatched = sum('PaymentsMismatched');
  alarms.ringAt('payments-mismatched', mismatched, 1);
  return {
    title: 'Payments',
    graphs: [
      graph('Callbacks by outcome', [eachOf(settings, 'Callbacks', 'Outcome', Stats.SUM)]),
      graph('Payments that contradict themselves', [mismatched]),
      graph('Callbacks with unknown fields', [sum('CallbacksWithUnknownFields')]),
    ],
  };
}
