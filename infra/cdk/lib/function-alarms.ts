import { Duration } from 'aws-cdk-lib';
import { type IMetric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type AlarmId, type Alarms, FAILURES_A_MINUTE } from './alarms.ts';
import { graph, type Part, PERIOD, published, sumOf } from './dashboard.ts';
import { ANSWERING, type FunctionName, SCHEDULED } from './functions.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

/** A schedule runs once a minute and makes up for missed runs. */
const SCHEDULE = { period: Duration.minutes(5), failures: 3 };

/** Rings when functions fail, or when Lambda throttles them. */
export function watchFunctions(settings: Settings, alarms: Alarms, functions: Record<FunctionName, RustFunction>): Part {
  const all = Object.values(functions);
  const answering = ANSWERING.map((name) => functions[name]);
  const scheduled = SCHEDULED.map((name) => functions[name]);
  const others = all.filter((fn) => !answering.includes(fn) && !scheduled.includes(fn));
  if (settings.emulator === undefined) {
    const ring = (id: AlarmId, metric: string, of: RustFunction[], limit: number, period = PERIOD) => {
      const metrics = of.map((fn) => [fn.name, fn.lambda.metric(metric, { period, statistic: Stats.SUM })]);
      alarms.ringAt(id, sumOf(Object.fromEntries(metrics), metric, period), limit);
    };
    ring('door-failing', 'Errors', answering, FAILURES_A_MINUTE);
    ring('workers-failing', 'Errors', others, FAILURES_A_MINUTE);
    ring('schedules-failing', 'Errors', scheduled, SCHEDULE.failures, SCHEDULE.period);
    ring('functions-throttled', 'Throttles', answering, 1);
  }
  const own = (name: string): IMetric => published(settings, name, Stats.SUM);
  const each = (metricName: string, statistic: string): IMetric[] =>
    all.map((fn) => fn.lambda.metric(metricName, { statistic, period: PERIOD, label: fn.name }));
  return {
    title: 'Functions',
    graphs: [
      graph('Errors', each('Errors', Stats.SUM)),
      graph('Throttles', each('Throttles', Stats.SUM)),
      graph('Duration p99, ms', each('Duration', 'p99')),
      graph('Running at once', each('ConcurrentExecutions', Stats.MAXIMUM)),
      graph('Cold starts', [own('ColdStarts')]),
      graph('Messages that failed, and that came back', [own('MessagesFailed'), own('Retries')]),
    ],
  };
}
