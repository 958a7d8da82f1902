// What rings and what the dashboard shows, except for what ledger, queues and push say of themselves.
import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, type IMetric, MathExpression, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { type AlarmId, type AlarmOptions, type Alarms, FAILURES_A_MINUTE } from './alarms.ts';
import { eachOf, graph, type Part, PERIOD, published, sumOf } from './dashboard.ts';
import { ANSWERING, type FunctionName, SCHEDULED } from './functions.ts';
import type { HttpApi } from './http-api.ts';
import type { RustFunction } from './rust-function.ts';
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
    const expression = `SELECT SUM(SaleLoad) FROM SCHEMA("${settings.name}", Sale) GROUP BY Sale ORDER BY SUM() DESC`;
    alarms.ringAt('sale-busy', new MathExpression({ expression, period: PERIOD, label: 'load' }), BUSY);
  }
  return ['Door', [
    graph('Answers by code', [eachOf(settings, 'Answers', 'Code', Stats.SUM)]),
    graph('Reservation, ms', ['p50', 'p90', 'p99'].map((statistic) => published(settings, 'ReserveMs', statistic).with({ label: statistic }))),
    graph('Load of each sale, 1 as expected', [eachOf(settings, 'SaleLoad', 'Sale', Stats.SUM)]),
    graph('Requests at the gateway', [api.metric('Count', Stats.SUM)], [api.metric('4xx', Stats.SUM), serverErrors]),
    graph('Gateway, ms', ['p50', 'p99'].map((statistic) => api.metric('Latency', statistic).with({ label: statistic }))),
  ]];
}

/** What one run of the audit finds, it repairs; where a run of a draw fails, the next one continues. */
const LASTING = Duration.minutes(5);
/** An order message is sent again after a minute, so by then it has been tried twice. */
const OUTBOX_S = 120;

/** Rings when reconciliation's metrics are bad. */
export function watchAudit(settings: Settings, alarms: Alarms): Part {
  const once = (name: string): Metric => published(settings, name, Stats.MAXIMUM);
  const lasting = (name: string): Metric => published(settings, name, Stats.MINIMUM, LASTING);

  alarms.ringAt('units-oversold', once('UnitsOversold'), 1);
  alarms.ringAt('units-adrift', lasting('UnitsAdrift'), 1);
  alarms.ringAt('rounds-rebuilt', once('RoundsRebuilt'), 1);
  alarms.ringAt('reconciliation-failing', lasting('ReconciliationFailures'), 1);
  // Without a sample in the whole period.
  alarms.ringAt('reconciliation-silent', lasting('UnitsAdrift').with({ statistic: Stats.SAMPLE_COUNT }), 1, {
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.BREACHING,
  });
  alarms.ringAt('orders-overdue', lasting('OrdersOverdue'), 1);
  alarms.ringAt('outbox-too-old', once('OutboxAge'), OUTBOX_S, { evaluationPeriods: 2 });
  const places = ['UnitsFree', 'UnitsHeld', 'UnitsOrdered'];
  return ['Units', [
    graph('Units by place', places.map((name) => eachOf(settings, name, 'Round', Stats.MAXIMUM))),
    graph('Units adrift, oversold', [once('UnitsAdrift'), once('UnitsOversold')]),
    graph('Oldest reservation without an order, s', [once('OutboxAge')]),
    graph('Repaired', [once('Repairs'), once('MessagesSentAgain'), once('RoundsRebuilt')]),
    graph('Not repaired', [once('ReconciliationFailures'), once('OrdersOverdue')]),
  ]];
}

/** Rings when the payment provider contradicts itself. */
export function watchPayments(settings: Settings, alarms: Alarms): Part {
  const mismatched = published(settings, 'PaymentsMismatched', Stats.SUM);
  alarms.ringAt('payments-mismatched', mismatched, 1);
  return ['Payments', [
    graph('Callbacks by outcome', [eachOf(settings, 'Callbacks', 'Outcome', Stats.SUM)]),
    graph('Payments that contradict themselves', [mismatched]),
    graph('Callbacks with unknown fields', [published(settings, 'CallbacksWithUnknownFields', Stats.SUM)]),
  ]];
}

/** Rings when a draw does not finish, or an entry arrives after it has begun. */
export function watchDraws(settings: Settings, alarms: Alarms): Part {
  const late = published(settings, 'DrawsLate', Stats.MINIMUM, LASTING);
  const entries = published(settings, 'EntriesLate', Stats.SUM);
  alarms.ringAt('draws-late', late, 1);
  alarms.ringAt('entries-late', entries, 1);
  return ['Draws', [
    graph('Late, and steps that failed', [late, published(settings, 'DrawFailures', Stats.MAXIMUM)]),
    graph('Entries that came too late', [entries]),
  ]];
}

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
    // They run once a minute and make up for missed runs.
    ring('schedules-failing', 'Errors', scheduled, 3, Duration.minutes(5));
    ring('functions-throttled', 'Throttles', answering, 1);
  }
  const own = (name: string): IMetric => published(settings, name, Stats.SUM);
  const each = (metricName: string, statistic: string): IMetric[] =>
    all.map((fn) => fn.lambda.metric(metricName, { statistic, period: PERIOD, label: fn.name }));
  return ['Functions', [
    graph('Errors', each('Errors', Stats.SUM)),
    graph('Throttles', each('Throttles', Stats.SUM)),
    graph('Duration p99, ms', each('Duration', 'p99')),
    graph('Running at once', each('ConcurrentExecutions', Stats.MAXIMUM)),
    graph('Cold starts', [own('ColdStarts')]),
    graph('Messages that failed, and that came back', [own('MessagesFailed'), own('Retries')]),
  ]];
}

/** Rings for the most loaded shard. A shard is the list of its nodes' names, since the primary changes. */
export function watchRedis(settings: Settings, alarms: Alarms, shards: string[][]): Part {
  const worst = (name: string, nodes: string[], number: number): IMetric => {
    const usingMetrics = Object.fromEntries(nodes.map((node, index) => [`s${number}n${index}`, ofNode(name, node)]));
    const [only, ...others] = Object.values(usingMetrics);
    if (only !== undefined && others.length === 0) return only;
    const expression = `MAX([${Object.keys(usingMetrics).join(', ')}])`;
    return new MathExpression({ expression, usingMetrics, period: PERIOD, label: `shard ${number}` });
  };
  const limits: [AlarmId, string, number, AlarmOptions?][] = [
    // One thread runs all scripts, so a node is saturated well before 100 %. A backup or a failover is over within two minutes.
    ['redis-busy', 'EngineCPUUtilization', 80, { evaluationPeriods: 2 }],
    // With noeviction a full node accepts no more reservations.
    ['redis-full', 'DatabaseMemoryUsagePercentage', 75],
    ['redis-evicting', 'Evictions', 1],
    // A node accepts 65,000 connections.
    ['redis-crowded', 'CurrConnections', 50_000],
  ];
  for (const [id, name, limit, options] of limits) {
    for (const [index, nodes] of shards.entries()) {
      if (nodes.length > 1 && settings.emulator !== undefined) continue;
      const part = shards.length > 1 ? `shard-${index + 1}` : undefined;
      alarms.ringAt(id, worst(name, nodes, index + 1), limit, { ...options, part });
    }
  }
  const each = (name: string): IMetric[] => shards.map((nodes, index) => worst(name, nodes, index + 1));
  return ['Redis', [
    graph('Engine CPU, %', each('EngineCPUUtilization')),
    graph('Memory, %', each('DatabaseMemoryUsagePercentage')),
    graph('Connections', each('CurrConnections')),
    graph('Evictions', each('Evictions')),
    graph('Scripts, µs', each('EvalBasedCmdsLatency')),
    graph('Replication lag, s', each('ReplicationLag')),
  ]];
}

function ofNode(metricName: string, node: string): Metric {
  return new Metric({ namespace: 'AWS/ElastiCache', metricName, dimensionsMap: { CacheClusterId: node }, statistic: Stats.MAXIMUM, period: PERIOD });
}
