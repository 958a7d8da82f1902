import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmId, AlarmOptions, Alarms } from './alarms.ts';
import { graph, type Part, published } from './dashboard.ts';
import { ANSWERING, type FunctionName, SCHEDULED } from './functions.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

const PERIOD = Duration.minutes(1);
/** A single failure is no reason to wake anybody. */
const FAILURES_A_MINUTE = 10;
/** A schedule runs once a minute and makes up for missed runs. */
const SCHEDULE = { period: Duration.minutes(5), failures: 3 };

/** Rings when functions fail, or when Lambda throttles them. */
export function watchFunctions(
  settings: Settings,
  alarms: Alarms,
  functions: Record<FunctionName, RustFunction>,
): Part {
  const all = Object.values(functions);
  const answering = ANSWERING.map((name) => functions[name]);
  const scheduled = SCHEDULED.map((name) => functions[name]);
  const others = all.filter((fn) => !answering.includes(fn) && !scheduled.includes(fn));
  if (settings.expressionAlarms) {
    const ring = (
      id: AlarmId,
      metric: string,
      of: RustFunction[],
      limit: number,
      period = PERIOD,
      options?: AlarmOptions,
    ) => alarms.ringAt(id, sumOf(metric, of, period), limit, options);
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

/** For at most ten functions, the largest number of metrics of an alarm. */
function sumOf(metricName: string, functions: RustFunction[], period: Duration): MathExpression {
  const metrics = functions.map((fn) => [fn.name, fn.lambda.metric(metricName, { period, statistic: Stats.SUM })]);
  return new MathExpression({
    // A function that nobody calls has no sample.
    expression: functions.map((fn) => `FILL(${fn.name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(metrics),
    period,
    label: metricName,
  });
}
