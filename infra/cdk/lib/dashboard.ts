import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { Alarms } from './alarms.ts';
import type { Settings } from './settings.ts';

/** The period of every metric, unless it says otherwise. */
export const PERIOD = Duration.minutes(1);
/** A row is 24 wide: three graphs. */
const ROW = 24;
const SIZE = { width: ROW / 3, height: 6 };

/** The part of the dashboard for one construct. */
export type Part = [title: string, graphs: cloudwatch.GraphWidget[]];

/** Lines over time. */
export function graph(title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({ title, left, right, period: PERIOD, liveData: true, leftYAxis: { min: 0 }, ...SIZE });
}

/** A metric that functions publish. */
export function published(settings: Settings, metricName: string, statistic: string, period = PERIOD): cloudwatch.Metric {
  return new cloudwatch.Metric({ namespace: settings.name, metricName, statistic, period });
}

/**
 * One line for each value of `dimension`, whatever values there are: sales come and go without a deployment.
 *
 * Only in graphs, since alarms cannot use searches.
 */
export function eachOf(settings: Settings, metricName: string, dimension: string, statistic: string): cloudwatch.IMetric {
  return new cloudwatch.MathExpression({
    expression: `SEARCH('{"${settings.name}",${dimension}} MetricName="${metricName}"', '${statistic}', ${PERIOD.toSeconds()})`,
    label: '',
    period: PERIOD,
  });
}

/** The sum of metrics by id, of which an alarm takes at most ten. One without a sample counts as 0. */
export function sumOf(usingMetrics: Record<string, cloudwatch.IMetric>, label: string, period = PERIOD): cloudwatch.MathExpression {
  const expression = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`).join(' + ');
  return new cloudwatch.MathExpression({ expression, usingMetrics, period, label });
}

/** Everything at a glance: the alarms, and below them the part of each construct. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, settings: Settings, alarms: Alarms, parts: Part[]) {
    super(scope, id);
    const dashboard = new cloudwatch.Dashboard(this, 'Dashboard', { dashboardName: settings.name, defaultInterval: Duration.hours(1) });
    dashboard.addWidgets(new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms: alarms.all, width: ROW, height: 5 }));
    for (const [title, graphs] of parts) {
      dashboard.addWidgets(new cloudwatch.TextWidget({ markdown: `## ${title}`, width: ROW, height: 1 }));
      for (let at = 0; at < graphs.length; at += 3) dashboard.addWidgets(...graphs.slice(at, at + 3));
    }
  }
}
