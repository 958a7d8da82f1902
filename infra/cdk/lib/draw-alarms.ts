import { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import { graph, type Part, published } from './dashboard.ts';
import type { Settings } from './settings.ts';

/** A single run may fail; the next one continues. */
const LASTING = Duration.minutes(5);

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
