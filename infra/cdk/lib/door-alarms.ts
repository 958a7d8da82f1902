import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Alarms } from './alarms.ts';
import type { HttpApi } from './http-api.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

const PERIOD = Duration.minutes(1);
/** A sale's load is 1 if it is asked for as much as planned. */
const HOT = 2;
/** A single failure is nothing to wake up for. */
const FAILURES_A_MINUTE = 10;

/** Rings when more people come than there is room for. */
export function watchDoor(settings: Settings, alarms: Alarms, api: HttpApi, inFront: RustFunction[]): void {
  alarms.ringAt('gateway-5xx', api.serverErrors(), FAILURES_A_MINUTE);
  if (!settings.expressionAlarms) return;

  // One series for each sale, and the alarm rings if any of them does: sales come and go without a deployment.
  const loads = new MathExpression({
    expression: `SELECT SUM(SaleLoad) FROM SCHEMA("${settings.name}", Sale) GROUP BY Sale ORDER BY SUM() DESC`,
    period: PERIOD,
    label: 'load',
  });
  alarms.ringAt('sale-hot', loads, HOT);

  const throttles = inFront.map((fn) => [fn.name, fn.lambda.metricThrottles({ period: PERIOD, statistic: Stats.SUM })]);
  const throttled = new MathExpression({
    // A function that nobody calls has no sample.
    expression: inFront.map((fn) => `FILL(${fn.name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(throttles),
    period: PERIOD,
    label: 'throttled',
  });
  alarms.ringAt('functions-throttled', throttled, 1);
}
