import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { IN_FRONT, SCHEDULED } from '../lib/functions.ts';
import { ROUTES } from '../lib/routes.ts';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { settingsOf } from '../lib/deployment.ts';
import type { Settings } from '../lib/settings.ts';
import { DEPLOYED, functionNamed, type Json, ofApi, only, ownFunctions, resources, synthesized, synthesizedEdge, target } from './stack.ts';

/** The value that all share. */
function same<T>(values: T[]): T {
  const [first, ...others] = new Set(values);
  if (first === undefined || others.length > 0) throw new Error(`not one value: ${JSON.stringify(values)}`);
  return first;
}

function throttle(name: string, { ThrottlingRateLimit, ThrottlingBurstLimit }: Json) {
  return { [`${name}_per_s`]: ThrottlingRateLimit, [`${name}_burst`]: ThrottlingBurstLimit };
}

function queueMappings(template: Template) {
  const queues = new Set(resources(template, 'AWS::SQS::Queue').map((queue) => queue.id));
  return resources(template, 'AWS::Lambda::EventSourceMapping').filter((each) => queues.has(target(each.properties.EventSourceArn)));
}

function alarmMetrics(template: Template): { ofNodes: number; others: number } {
  const namespaces: string[] = resources(template, 'AWS::CloudWatch::Alarm').flatMap(({ properties }) =>
    properties.Metrics === undefined
      ? [properties.Namespace]
      : properties.Metrics.flatMap((each: Json) => each.MetricStat?.Metric.Namespace ?? []),
  );
  const ofNodes = namespaces.filter((namespace) => namespace === 'AWS/ElastiCache').length;
  return { ofNodes, others: namespaces.length - ofNodes };
}

/** What a sale on it can use. */
function room(settings: Settings, template: Template) {
  const redis = only(template, 'AWS::ElastiCache::ReplicationGroup').properties;
  const stage = ofApi(template, 'HTTP', 'Stage')[0]!.properties;
  const order = functionNamed(template, 'order', settings).id;
  const orders = queueMappings(template).find((each) => target(each.properties.FunctionName) === order)!;
  const functions = ownFunctions(template).map((each) => each.properties);
  // Tickets are requested before the opening.
  const atOpening = ROUTES.filter((route) => route.throttle && route.throttle !== 'tickets');
  const ofRoute = ({ method, path }: (typeof ROUTES)[number]) => stage.RouteSettings[`${method} ${path}`];
  return {
    node_type: redis.CacheNodeType,
    shards: redis.NumNodeGroups,
    replicas: redis.ReplicasPerNodeGroup,
    sync: redis.Durability === 'sync',
    // Null if nothing is warmed.
    table_warm_writes: only(template, 'AWS::DynamoDB::Table').properties.WarmThroughput?.WriteUnitsPerSecond ?? null,
    order_concurrency: orders.properties.ScalingConfig.MaximumConcurrency,
    reserved_concurrency: functions.reduce((sum, each) => sum + (each.ReservedConcurrentExecutions ?? 0), 0),
    ...throttle('throttle', stage.DefaultRouteSettings),
    ...throttle('gate_throttle', JSON.parse(same(atOpening.map((each) => JSON.stringify(ofRoute(each)))))),
    ...throttle('ticket_throttle', ofRoute(ROUTES.find((route) => route.throttle === 'tickets')!)),
    batch: same(queueMappings(template).map((each) => each.properties.BatchSize)),
    // Except for draw, whose time only counts towards the idle cost.
    function_mb: same(functions.filter((each) => !each.FunctionName.endsWith('-draw')).map((each) => each.MemorySize)),
    provisioned_functions: IN_FRONT.length,
  };
}

/** What costs money while idle. */
function idle(settings: Settings, template: Template) {
  const edge = settings.edge?.requestsPer5MinutesPerIp === undefined ? undefined : synthesizedEdge(settings);
  const firewalls = edge === undefined ? [] : resources(edge, 'AWS::WAFv2::WebACL');
  const endpoints = resources(template, 'AWS::EC2::VPCEndpoint').filter((each) => each.properties.VpcEndpointType === 'Interface');
  const { NumNodeGroups, ReplicasPerNodeGroup } = only(template, 'AWS::ElastiCache::ReplicationGroup').properties;
  const { ofNodes, others } = alarmMetrics(template);
  const scheduled: Json[] = SCHEDULED.map((name) => functionNamed(template, name, settings).properties);
  return {
    resources: resources(template).length + (edge === undefined ? 0 : resources(edge).length),
    endpoints: endpoints.reduce((sum, each) => sum + each.properties.SubnetIds.length, 0),
    secrets: resources(template, 'AWS::SecretsManager::Secret').length,
    alarm_metrics: others,
    alarm_metrics_of_a_node: ofNodes / (NumNodeGroups * (1 + ReplicasPerNodeGroup)),
    metrics: same(ownFunctions(template).map((each) => each.properties.Environment.Variables.METRICS !== 'off')),
    dashboards: resources(template, 'AWS::CloudWatch::Dashboard').length,
    schedules: resources(template, 'AWS::Scheduler::Schedule').length,
    schedules_mb: scheduled.reduce((sum, { MemorySize }) => sum + MemorySize, 0),
    schedules_secrets: scheduled.flatMap(({ Environment }) => Object.keys(Environment.Variables).filter((name) => name.endsWith('_SECRET_ARN'))).length,
    traced: same(ownFunctions(template).map((each) => each.properties.TracingConfig?.Mode === 'Active')),
    polled_queues: queueMappings(template).filter((each) => each.properties.Enabled !== false).length,
    firewalls: firewalls.length,
    firewall_rules: firewalls.reduce((sum, each) => sum + each.properties.Rules.length, 0),
  };
}

test('the planner knows what each deployment has and costs', async () => {
  const deployments = { ...DEPLOYED, lanes: settingsOf('edge', { ...DEPLOYMENTS.edge, provisioned: [] }) };
  const counted = (['dev', 'prod', 'parked', 'lanes'] as const).map((name) => {
    const template = synthesized(deployments[name]);
    return [name, { ...room(deployments[name], template), ...idle(deployments[name], template) } as Json] as const;
  });
  const rows = Object.keys(counted[0]![1]).map((field) => {
    const values = counted.map(([name, has]) => `"${name}": ${JSON.stringify(has[field])}`);
    return `  "${field}": { ${values.join(', ')} }`;
  });
  // `npx vitest run -u` writes it, and tools/planner/src/deployment.rs reads it.
  await expect(`{\n${rows.join(',\n')}\n}\n`).toMatchFileSnapshot('../../../tools/planner/profiles.json');
});
