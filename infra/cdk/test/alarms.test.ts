import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ALARM_IDS } from '../lib/alarms.ts';
import { apiOf, DEPLOYED, functionNamed, type Json, resources, synthesized, target } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const alarms = resources(template, 'AWS::CloudWatch::Alarm');
const runbook = readFileSync(fileURLToPath(new URL('../../../docs/runbook.md', import.meta.url)), 'utf8');
const entries = runbook.split(/^## /m).slice(1);

const named = (id: string) => alarms.find((alarm) => alarm.properties.AlarmName === `${settings.name}-${id}`)!.properties;

test('every alarm is listed, has a text and tells the topic', () => {
  expect(alarms.map((alarm) => alarm.properties.AlarmName).sort()).toEqual(
    ALARM_IDS.map((id) => `${settings.name}-${id}`).sort(),
  );
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
    expect.objectContaining({
      Effect: 'Allow',
      Action: 'sns:Publish',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
    }),
  );
});

test('an e-mail address is subscribed when there is one', () => {
  const told = synthesized({ ...settings, alarmEmail: 'shop@example.com' });
  told.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'shop@example.com' });
  template.resourceCountIs('AWS::SNS::Subscription', 0);
});

test('the runbook has one entry for each alarm, and none besides', () => {
  expect(entries.map((entry) => entry.split('\n', 1)[0]).sort()).toEqual([...ALARM_IDS].sort());
});

test.each(entries.map((entry) => [entry.split('\n', 1)[0]!, entry] as const))('%s says what it means, where to look and what to do', (_, entry) => {
  for (const part of ['**Means** ', '**Look** ', '**Do** ']) expect(entry.split(part), part).toHaveLength(2);
});

test('one unit that is sold twice rings at once, and one that drifts after five minutes', () => {
  expect(named('units-oversold')).toMatchObject({ MetricName: 'UnitsOversold', Statistic: 'Maximum', Period: 60, Threshold: 1 });
  expect(named('units-adrift')).toMatchObject({ MetricName: 'UnitsAdrift', Statistic: 'Minimum', Period: 300, Threshold: 1 });
});

test('no news from reconciliation is bad news', () => {
  expect(named('reconciliation-silent')).toMatchObject({
    Statistic: 'SampleCount',
    ComparisonOperator: 'LessThanThreshold',
    Threshold: 1,
    TreatMissingData: 'breaching',
  });
});

test('the audit is watched in the namespace that the functions publish to', () => {
  const watched = alarms.filter((alarm) => alarm.properties.Namespace === settings.name);
  expect(watched).toHaveLength(5);
  const functions = resources(template, 'AWS::Lambda::Function');
  for (const { properties } of functions.filter((each) => each.properties.Runtime === 'provided.al2023')) {
    expect(properties.Environment.Variables.METRICS_NAMESPACE).toBe(settings.name);
  }
});

test('the hottest sale rings, whichever it is, from twice its plan on', () => {
  const { Metrics, ...alarm } = named('sale-hot');
  expect(alarm).toMatchObject({ Threshold: 2, ComparisonOperator: 'GreaterThanOrEqualToThreshold', EvaluationPeriods: 1 });
  expect(Metrics).toMatchObject([
    {
      Expression: `SELECT SUM(SaleLoad) FROM SCHEMA("${settings.name}", Sale) GROUP BY Sale ORDER BY SUM() DESC`,
      Period: 60,
      ReturnData: true,
    },
  ]);
});

test('one throttled request at the door rings', () => {
  const { Metrics, Threshold } = named('functions-throttled');
  const [sum, ...parts] = Metrics;
  expect([sum.Expression, sum.ReturnData, Threshold]).toEqual(['FILL(reservation, 0) + FILL(admission, 0)', true, 1]);
  for (const { Id, ReturnData, MetricStat } of parts) {
    expect([ReturnData, MetricStat.Metric.MetricName]).toEqual([false, 'Throttles']);
    expect([MetricStat.Stat, MetricStat.Period]).toEqual(['Sum', 60]);
    expect(target(MetricStat.Metric.Dimensions[0].Value)).toBe(functionNamed(template, Id, settings).id);
  }
  expect(parts.map((part: Json) => part.Id)).toEqual(['reservation', 'admission']);
});

test('ten answers of 500 and above in a minute ring', () => {
  const { Dimensions, ...alarm } = named('gateway-5xx');
  expect(alarm).toMatchObject({ MetricName: '5xx', Statistic: 'Sum', Period: 60, Threshold: 10 });
  expect(Dimensions.map((each: Json) => [each.Name, target(each.Value)])).toEqual([
    ['ApiId', apiOf(template, 'HTTP').id],
  ]);
});

test('the emulator, which knows no expressions, gets all other alarms', () => {
  const here = resources(synthesized(DEPLOYED.local), 'AWS::CloudWatch::Alarm').map(({ properties }) => properties);
  expect(here).toHaveLength(ALARM_IDS.length - 2);
  for (const alarm of here) expect(alarm, alarm.AlarmName).not.toHaveProperty('Metrics');
});
