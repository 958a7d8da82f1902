import { describe, expect, test } from 'vitest';
import { FUNCTION_NAMES, type FunctionName, IN_FRONT } from '../lib/functions.ts';
import type { ProvisionedWindow } from '../lib/settings.ts';
import { DEPLOYED, functionNamed, type Json, resources, synthesized, target } from './stack.ts';

const WINDOWS: ProvisionedWindow[] = [
  { from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count: 200 },
  { from: 'cron(45 17 * * ? *)', to: 'cron(30 18 * * ? *)', timeZone: 'Europe/Berlin', count: 20 },
];
const settings = { ...DEPLOYED.prod, provisioned: WINDOWS };
const template = synthesized(settings);
const aliases = resources(template, 'AWS::Lambda::Alias');
const targets = resources(template, 'AWS::ApplicationAutoScaling::ScalableTarget');

describe.each(IN_FRONT)('%s', (name) => {
  const fn = functionNamed(template, name, settings);
  const alias = aliases.find(({ properties }) => target(properties.FunctionName) === fn.id)!;

  test('has processes ready from before an opening until after the rush', () => {
    const [scaled, ...more] = targets.filter(({ properties }) => JSON.stringify(properties.ResourceId).includes(alias.id));
    expect(more).toEqual([]);
    expect(scaled!.properties).toMatchObject({ ScalableDimension: 'lambda:function:ProvisionedConcurrency', MinCapacity: 0, MaxCapacity: 0 });
    const actions = scaled!.properties.ScheduledActions.map((each: Json) => [
      each.Schedule,
      each.Timezone,
      each.ScalableTargetAction.MinCapacity,
      each.ScalableTargetAction.MaxCapacity,
    ]);
    expect(actions).toEqual([
      ['at(2099-12-01T17:45:00)', undefined, 200, 200],
      ['at(2099-12-01T18:30:00)', undefined, 0, 0],
      ['cron(45 17 * * ? *)', 'Europe/Berlin', 20, 20],
      ['cron(30 18 * * ? *)', 'Europe/Berlin', 0, 0],
    ]);
  });

  test('is called through the alias that has them', () => {
    const uris = resources(template, 'AWS::ApiGatewayV2::Integration').map(({ properties }) => properties.IntegrationUri);
    expect(uris).toContainEqual({ Ref: alias.id });
    expect(uris).not.toContainEqual({ 'Fn::GetAtt': [fn.id, 'Arn'] });
  });
});

test('no other function has provisioned processes', () => {
  const others = FUNCTION_NAMES.filter((name) => !IN_FRONT.some((each) => each === name));
  const scaled = JSON.stringify(targets.map(({ properties }) => properties.ResourceId));
  const ids = (name: FunctionName) => aliases.filter(({ properties }) => target(properties.FunctionName) === functionNamed(template, name, settings).id);
  for (const name of others) for (const { id } of ids(name)) expect(scaled).not.toContain(id);
});
