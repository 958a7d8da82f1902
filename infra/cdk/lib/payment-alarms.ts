import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import { eachOf, graph, type Part, published } from './dashboard.ts';
import type { Settings } from './settings.ts';

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
