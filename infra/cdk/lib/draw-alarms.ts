import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import { graph, type Part } from './dashboard.ts';
import type { Settings } from './settings.ts';

const ONE_RUN = Duration.minutes(1);
/** A single run may fail; the next one continues. */
const LASTING = Duration.minutes(5);

/** Rings when a draw does not finish, or an entry arrives after it has begun. */
export function watchDraws(settings: Settings, alarms: Alarms): Part {
  const metric = (metricName: string, statistic: string, period: Duration): Metric =>
    new Metric({ namespace: settings.name, metricName, statistic, period });
  const late = metric('DrawsLate', Stats.MINIMUM, LASTING);
  const entries = metric('EntriesLate', Stats.SUM, ONE_RUN);
  alarms.ringAt('draws-late', late, 1);
  alarms.ringAt('entries-late', entries, 1);
  return {
    title: 'Draws',
    graphs: [
      graph('Late, and steps that failed', [late, metric('DrawFailures', Stats.MAXIMUM, ONE_RUN)]),
      graph('Entries that came too late', [entries]),
    ],
  };
}
