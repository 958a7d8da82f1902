import { describe, expect, test } from 'vitest';
import { FUNCTION_NAMES } from '../lib/functions.ts';
import { DEPLOYED, type Json, only, resources, synthesized } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);

/** The body as CloudFormation renders it, with `<id>` for values that only AWS knows. */
function bodyOf(from: typeof template): { widgets: Json[] } {
  const body = only(from, 'AWS::CloudWatch::Dashboard').properties.DashboardBody;
  const parts = body['Fn::Join'][1].map((part: Json) =>
    typeof part === 'string' ? part : `<${part.Ref ?? part['Fn::GetAtt'].join('.')}>`,
  );
  return JSON.parse(parts.join(''));
}

const { widgets } = bodyOf(template);
const parts = widgets.filter(({ type }) => type === 'text').map(({ properties }) => properties.markdown);
const graphs = new Map<string, Json>(
  widgets.filter(({ type }) => type === 'metric').map(({ properties }) => [properties.title, properties.metrics]),
);

test('shows the parts in the order of a request', () => {
  expect(parts).toEqual(['## Door', '## Units', '## Payments', '## Draws', '## Queues', '## Functions', '## Redis', '## Ledger', '## Push']);
});

test('has all alarms at the top', () => {
  const [first] = widgets;
  expect([first.type, first.y]).toEqual(['alarm', 0]);
  expect(first.properties.alarms).toHaveLength(resources(template, 'AWS::CloudWatch::Alarm').length);
});

test('no widgets overlap, and no row is too wide', () => {
  const cells = widgets.flatMap(({ x, y, width, height }) => {
    expect(x + width).toBeLessThanOrEqual(24);
    return Array.from({ length: width * height }, (_, at) => `${x + (at % width)},${y + Math.floor(at / width)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
});

describe('metrics that functions publish are shown', () => {
  const search = (name: string, dimension: string, statistic: string) =>
    `SEARCH('{"${settings.name}",${dimension}} MetricName="${name}"', '${statistic}', 60)`;
  const EACH: [string, string[]][] = [
    ['Answers by code', [search('Answers', 'Code', 'Sum')]],
    ['Load of each sale, 1 as expected', [search('SaleLoad', 'Sale', 'Sum')]],
    ['Units by place', ['UnitsFree', 'UnitsHeld', 'UnitsOrdered'].map((name) => search(name, 'Round', 'Maximum'))],
  ];
  test.each(EACH)('%s', (title, expressions) => {
    expect(graphs.get(title).map(([metric]: Json) => metric.expression)).toEqual(expressions);
  });

  const PLAIN: [string, string[]][] = [
    ['Reservation, ms', ['ReserveMs', 'ReserveMs', 'ReserveMs']],
    ['Units adrift, oversold', ['UnitsAdrift', 'UnitsOversold']],
    ['Oldest reservation without an order, s', ['OutboxAge']],
    ['Repaired', ['Repairs', 'MessagesSentAgain', 'RoundsRebuilt']],
    ['Not repaired', ['ReconciliationFailures', 'OrdersOverdue']],
    ['Cold starts', ['ColdStarts']],
    ['Messages that failed, and that came back', ['MessagesFailed', 'Retries']],
  ];
  test.each(PLAIN)('%s', (title, names) => {
    expect(graphs.get(title).map(([namespace, name]: Json) => [namespace, name])).toEqual(
      names.map((name) => [settings.name, name]),
    );
  });
});

test.each(['Errors', 'Throttles', 'Duration p99, ms', 'Running at once'])('%s of every function are shown', (title) => {
  expect(graphs.get(title).map((metric: Json) => metric.at(-1).label)).toEqual(
    expect.arrayContaining([...FUNCTION_NAMES]),
  );
});

test('every queue is shown', () => {
  const labels = ['Waiting', 'Dead letters'].flatMap((title) =>
    graphs.get(title).map((metric: Json) => metric.at(-1).label),
  );
  const names = resources(template, 'AWS::SQS::Queue').map(({ properties }) => properties.QueueName);
  expect(labels.map((label) => `${settings.name}-${label}`).sort()).toEqual(names.sort());
});

test('exists where everything is observed', () => {
  expect(bodyOf(synthesized(DEPLOYED.local)).widgets.length).toBeGreaterThan(20);
  synthesized(DEPLOYED.dev).resourceCountIs('AWS::CloudWatch::Dashboard', 0);
});
