import { describe, expect, test } from 'vitest';
import { ALARM_IDS } from '../lib/alarms.ts';
import { ANSWERING, FUNCTION_NAMES, type FunctionName, SCHEDULED } from '../lib/functions.ts';
import { WRITTEN_BY_ORDERS } from '../lib/ledger-table.ts';
import { read } from '../openapi/files.js';
import { apiOf, DEPLOYED, functionNamed, type Json, only, properties, resources, synthesized, target, variablesOf } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const alarms = resources(template, 'AWS::CloudWatch::Alarm');
const runbook = read('docs/runbook.md');
const sections = runbook.split(/^## /m).slice(1);
// Other sections are about more than one alarm.
const entries = sections.filter((each) => /^[a-z0-9-]+\n/.test(each));

const named = (id: string, of = template) => properties(of, 'AWS::CloudWatch::Alarm').find(({ AlarmName }) => AlarmName === `${settings.name}-${id}`);

/** Each alarm on Redis exists once per shard. */
const idOf = (name: string): string => name.slice(settings.name.length + 1).replace(/-shard-\d+$/, '');

test('every alarm is listed, has a description and notifies the topic', () => {
  const ids = alarms.map((alarm) => idOf(alarm.properties.AlarmName));
  expect([...new Set(ids)].sort()).toEqual([...ALARM_IDS].sort());
  const [topic] = resources(template, 'AWS::SNS::Topic');
  for (const { properties } of alarms) {
    expect(properties.AlarmDescription).toMatch(/\.$/);
    expect(properties.AlarmActions.map(target)).toEqual([topic!.id]);
    expect(properties.OKActions.map(target)).toEqual([topic!.id]);
  }
});

test('CloudWatch may publish to the topic', () => {
  const statements = resources(template, 'AWS::SNS::TopicPolicy')[0]!.properties.PolicyDocument.Statement;
  expect(statements).toContainEqual(
    expect.objectContaining({ Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
  );
});

test('an e-mail address is subscribed if one is set', () => {
  template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: settings.alarmEmail });
  synthesized(DEPLOYED.local).resourceCountIs('AWS::SNS::Subscription', 0);
});

test('the runbook has exactly one entry for each alarm', () => {
  expect(entries.map((entry) => entry.split('\n', 1)[0]).sort()).toEqual([...ALARM_IDS].sort());
});

test.each(entries.map((entry) => [entry.split('\n', 1)[0]!, entry] as const))('%s says what it means, where to look and what to do', (_, entry) => {
  for (const part of ['**Means** ', '**Look** ', '**Do** ']) expect(entry.split(part), part).toHaveLength(2);
});

/** Of the deployment's own metrics, unless the row says otherwise. */
const over = (MetricName: string, Statistic: string, Period: number, Threshold: number, EvaluationPeriods = 1) => ({
  ...{ Namespace: settings.name, MetricName, Statistic, Period, Threshold, EvaluationPeriods },
  ComparisonOperator: 'GreaterThanOrEqualToThreshold',
});

test.each([
  ['units-oversold', over('UnitsOversold', 'Maximum', 60, 1)],
  ['units-adrift', over('UnitsAdrift', 'Minimum', 300, 1)],
  ['payments-mismatched', over('PaymentsMismatched', 'Sum', 60, 1)],
  ['draws-late', over('DrawsLate', 'Minimum', 300, 1)],
  ['entries-late', over('EntriesLate', 'Sum', 60, 1)],
  // Once its message was sent again.
  ['outbox-too-old', over('OutboxAge', 'Maximum', 60, 120, 2)],
  ['orders-overdue', over('OrdersOverdue', 'Minimum', 300, 1)],
  ['reconciliation-silent', { ...over('UnitsAdrift', 'SampleCount', 300, 1), ComparisonOperator: 'LessThanThreshold', TreatMissingData: 'breaching' }],
  ['push-failing', { ...over('ExecutionError', 'Sum', 60, 10), Namespace: 'AWS/ApiGateway', Dimensions: [{ Name: 'ApiId', Value: { Ref: apiOf(template, 'WEBSOCKET').id } }] }],
  ['gateway-5xx', { ...over('5xx', 'Sum', 60, 10), Namespace: 'AWS/ApiGateway', Dimensions: [{ Name: 'ApiId', Value: { Ref: apiOf(template, 'HTTP').id } }] }],
  // The busiest sale, at twice its plan.
  ['sale-busy', {
    ...{ Threshold: 2, ComparisonOperator: 'GreaterThanOrEqualToThreshold', EvaluationPeriods: 1 },
    Metrics: [{ Expression: `SELECT SUM(SaleLoad) FROM SCHEMA("${settings.name}", Sale) GROUP BY Sale ORDER BY SUM() DESC`, Period: 60, ReturnData: true }],
  }],
  // With or without a receiver.
  ...(['notifier', 'emitter'] as const).map((name): [string, object] => [
    `${name}-late`,
    {
      ...over('IteratorAge', 'Maximum', 60, 30_000, 2),
      Namespace: 'AWS/Lambda',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: functionNamed(template, name, settings).id } }],
    },
  ]),
] as [string, object][])('%s rings by %j', (id, alarm) => {
  expect(named(id)).toMatchObject(alarm);
});

test('alarms on the audit read the namespace that functions publish to', () => {
  const watched = alarms.filter((alarm) => alarm.properties.Namespace === settings.name);
  expect(watched).toHaveLength(10);
  for (const name of FUNCTION_NAMES) expect(variablesOf(template, name, settings).METRICS_NAMESPACE).toBe(settings.name);
});

const BEHIND = FUNCTION_NAMES.filter((name) => ![...ANSWERING, ...SCHEDULED].some((each) => each === name));
const SUMS: [string, string, readonly FunctionName[], number, number][] = [
  ['functions-throttled', 'Throttles', ANSWERING, 60, 1],
  ['door-failing', 'Errors', ANSWERING, 60, 10],
  ['workers-failing', 'Errors', BEHIND, 60, 10],
  ['schedules-failing', 'Errors', SCHEDULED, 300, 3],
];

test.each(SUMS)('%s sums up %s of %s', (id, metric, functions, period, threshold) => {
  const { Metrics, Threshold } = named(id);
  const [sum, ...parts] = Metrics;
  const added = functions.map((name) => `FILL(${name}, 0)`).join(' + ');
  expect([sum.Expression, sum.ReturnData, Threshold]).toEqual([added, true, threshold]);
  for (const { Id, ReturnData, MetricStat } of parts) {
    expect([ReturnData, MetricStat.Metric.MetricName]).toEqual([false, metric]);
    expect([MetricStat.Stat, MetricStat.Period]).toEqual(['Sum', period]);
    expect(target(MetricStat.Metric.Dimensions[0].Value)).toBe(functionNamed(template, Id, settings).id);
  }
  expect(parts.map((part: Json) => part.Id)).toEqual(functions);
});

test('a throttled table raises an alarm, and so does a throttled index of orders', () => {
  const [sum, ...parts] = named('table-throttled').Metrics;
  expect(sum.Expression).toBe('FILL(t0, 0) + FILL(t1, 0) + FILL(t2, 0) + FILL(t3, 0) + FILL(t4, 0) + FILL(t5, 0) + FILL(t6, 0)');
  const table = only(template, 'AWS::DynamoDB::Table').id;
  const watched = parts.map(({ MetricStat: { Metric: metric, Stat } }: Json) => {
    const [index, name] = [...metric.Dimensions].sort((a: Json, b: Json) => a.Name.localeCompare(b.Name)).slice(-2);
    expect([target((name ?? index).Value), Stat]).toEqual([table, 'Sum']);
    return [metric.MetricName, name && index.Value];
  });
  expect(watched).toEqual([
    ['ReadThrottleEvents', undefined],
    ['WriteThrottleEvents', undefined],
    ...WRITTEN_BY_ORDERS.map((index) => ['WriteThrottleEvents', index]),
  ]);
});

describe('Redis', () => {
  const template = synthesized({ ...settings, redis: { ...settings.redis, shards: 2 } });
  const group = only(template, 'AWS::ElastiCache::ReplicationGroup');
  const LIMITS = [
    ['redis-busy', 'EngineCPUUtilization', 80, 2],
    ['redis-full', 'DatabaseMemoryUsagePercentage', 75, 1],
    ['redis-evicting', 'Evictions', 1, 1],
    ['redis-crowded', 'CurrConnections', 50_000, 1],
  ] as const;

  test.each(LIMITS)('%s covers every node of each shard', (id, metric, threshold, periods) => {
    for (let shard = 1; shard <= group.properties.NumNodeGroups; shard++) {
      const { Metrics, ...alarm } = named(`${id}-shard-${shard}`, template);
      expect(alarm).toMatchObject({ Threshold: threshold, EvaluationPeriods: periods });
      const [worst, ...nodes] = Metrics;
      expect(worst.Expression).toBe(`MAX([${nodes.map((node: Json) => node.Id).join(', ')}])`);
      const names = nodes.map(({ MetricStat: { Metric: { MetricName, Dimensions } } }: Json) => {
        expect([MetricName, Dimensions[0].Name]).toEqual([metric, 'CacheClusterId']);
        return Dimensions[0].Value['Fn::Join'][1];
      });
      const ref = { Ref: group.id };
      expect(names).toEqual([1, 2].map((node) => [ref, `-000${shard}-00${node}`]));
    }
  });

  test('a single node has a name without a shard', () => {
    const local = synthesized(DEPLOYED.local);
    const ref = { Ref: only(local, 'AWS::ElastiCache::ReplicationGroup').id };
    expect(named('redis-busy', local).Dimensions).toEqual([{ Name: 'CacheClusterId', Value: { 'Fn::Join': ['', [ref, '-001']] } }]);
  });
});

const EXPRESSIONS = ['sale-busy', 'table-throttled', ...SUMS.map(([id]) => id)];

test('the emulator gets all alarms without expressions', () => {
  const here = properties(synthesized(DEPLOYED.local), 'AWS::CloudWatch::Alarm');
  expect(here).toHaveLength(ALARM_IDS.length - EXPRESSIONS.length);
  for (const alarm of here) expect(alarm, alarm.AlarmName).not.toHaveProperty('Metrics');
  // One of them has its own row.
  expect(runbook).toContain(`the ${ALARM_IDS.length - EXPRESSIONS.length - 1} on a single metric`);
  const [, unknown] = runbook.match(/^\| (.*) \| are not deployed: alarms on the emulator take no expressions \|$/m) ?? [];
  expect(unknown?.replaceAll('`', '').split(', ').sort()).toEqual(EXPRESSIONS.toSorted());
});
