import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import type { Settings } from './settings.ts';

/** Pages of the audit are read one after another while people buy, so that one run may see what is not there. */
const LASTING = Duration.minutes(5);
const ONE_RUN = Duration.minutes(1);

/** Rings when the numbers that reconciliation publishes are not what they should be. */
export function watchAudit(settings: Settings, alarms: Alarms): void {
  const once = (metricName: string): Metric =>
    new Metric({ namespace: settings.name, metricName, statistic: Stats.MAXIMUM, period: ONE_RUN });
  const lasting = (metricName: string): Metric =>
    new Metric({ namespace: settings.name, metricName, statistic: Stats.MINIMUM, period: LASTING });

  alarms.ringAt('units-oversold', once('UnitsOversold'), 1);
  alarms.ringAt('units-adrift', lasting('UnitsAdrift'), 1);
  alarms.ringAt('rounds-rebuilt', once('RoundsRebuilt'), 1);
  alarms.ringAt('reconciliation-failing', lasting('ReconciliationFailures'), 1);
  alarms.ringWhenSilent('reconciliation-silent', lasting('UnitsAdrift'));
}
