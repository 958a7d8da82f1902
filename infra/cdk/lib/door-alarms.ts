import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type Alarms, FAILURES_A_MINUTE } from './alarms.ts';
import { eachOf, graph, type Part, PERIOD, published } from './dashboard.ts';
import type { HttpApi } from './http-api.ts';
import type { Settings } from './settings.ts';

/** A sale's load is 1 if it gets as many requests as expected. */
const BUSY = 2;

/** Rings when more people come than there is room for. */
export function watchDoor(settings: Settings, alarms: Alarms, api: HttpApi): Part {
  // Including the functions' own.
  const serverErrors = api.metric('5xx', Stats.SUM);
  alarms.ringAt('gateway-5xx', serverErrors, FAILURES_A_MINUTE);
  if (settings.emulator === undefined) {
    // One series for each sale, and the alarm rings if any of them does: sales come and go without a deployment.
    const loads = new MathExpression({
      expression: `SELECT SUM(SaleLoad) FROM SCHEMA("${settings.name}", Sale) GROUP BY Sale ORDER BY SUM() DESC`,
      period: PERIOD,
      label: 'load',
    });
    alarms.ringAt('sale-busy', loads, BUSY);
  }
  return {
    title: 'Door',
    graphs: [
      graph('Answers by code', [eachOf(settings, 'Answers', 'Code', Stats.SUM)]),
      graph('Reservation, ms', ['p50', 'p90', 'p99'].map((statistic) => published(settings, 'ReserveMs', statistic).with({ label: statistic }))),
      graph('Load of each sale, 1 as expected', [eachOf(settings, 'SaleLoad', 'Sale', Stats.SUM)]),
      graph('Requests at the gateway', [api.metric('Count', Stats.SUM)], [api.metric('4xx', Stats.SUM), serverErrors]),
      graph('Gateway, ms', ['p50', 'p99'].map((statistic) => api.metric('Latency', statistic).with({ label: statistic }))),
    ],
  };
}
