import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../deploy/paths.ts';
import { FUNCTION_NAMES } from '../lib/functions.ts';
import { read } from '../openapi/files.js';
import { DEPLOYED, type Json, only, rendered, resources, synthesized } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);

const widgetsOf = (from: typeof template): Json[] => JSON.parse(rendered(only(from, 'AWS::CloudWatch::Dashboard').properties.DashboardBody)).widgets;

const widgets = widgetsOf(template);
const graphs = new Map<string, Json>(widgets.filter(({ type }) => type === 'metric').map(({ properties }) => [properties.title, properties.metrics]));

test('has all alarms at the top', () => {
  const [first] = widgets;
  expect([first.type, first.y]).toEqual(['alarm', 0]);
  expect(first.properties.alarms).toHaveLength(resources(template, 'AWS::CloudWatch::Alarm').length);
});

test.each(['Errors', 'Throttles', 'Duration p99, ms', 'Running at once'])('%s of every function are shown', (title) => {
  expect(graphs.get(title).map((metric: Json) => metric.at(-1).label)).toEqual(expect.arrayContaining([...FUNCTION_NAMES]));
});

test('every queue is shown', () => {
  const labels = ['Waiting', 'Dead letters'].flatMap((title) => graphs.get(title).map((metric: Json) => metric.at(-1).label));
  const names = resources(template, 'AWS::SQS::Queue').map(({ properties }) => properties.QueueName);
  expect(labels.map((label) => `${settings.name}-${label}`).sort()).toEqual(names.sort());
});

// A name that is misspelt would be an empty graph.
test('functions publish each metric that is shown as theirs', () => {
  const sources = ['functions', 'shared'].flatMap((folder) => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((file) => /\/src\/.*\.rs$/.test(file));
    return files.map((file) => read(join(folder, file)));
  }).join();
  const shown = [...graphs.values()].flat().flatMap(([first, name]: Json) =>
    first === settings.name ? [name] : (first.expression?.match(/(?<=MetricName=")\w+/g) ?? []),
  );
  expect(shown).toEqual(expect.arrayContaining(['ReserveMs', 'UnitsFree']));
  expect(shown.filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
});

// tools/planner/profiles.json says that dev has none.
test('exists on the emulator', () => {
  expect(widgetsOf(synthesized(DEPLOYED.local)).length).toBeGreaterThan(20);
});
