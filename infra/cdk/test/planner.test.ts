import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { IN_FRONT, SCHEDULED } from '../lib/functions.ts';
import { ROUTES } from '../lib/routes.ts';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { settingsOf } from '../lib/deployment.ts';
import type { Settings } from '../lib/settings.ts';
import { DEPLOYED, functionNamed, type Json, ofApi, only, ownFunctions, resources, synthesized, synthesizedEdge, target } from './stack.ts';

const templates = { dev: synthesized(DEPLOYED.dev), prod: synthesized(DEPLOYED.prod), parked: synthesized(DEPLOYED.parked) };

/** The value that all share. */
function same<T>(values: T[]): T {
  const [first, ...others] = new Set(values);
  if (first === undefined || others.length > 0) throw new Error(`not one value: ${JSON.stringify(values)}`);
  return first;
}

function throttle(settings: { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }) {
  return { per_s: settings.ThrottlingRateLimit, burst: settings.ThrottlingBurstLimit };
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

function deployment(settings: Settings, template: Template) {
  const redis = only(template, 'AWS::ElastiCache::ReplicationGroup').properties;
  const stage = ofApi(template, 'HTTP', 'Stage')[0]!.properties;
  const order = functionNamed(template, 'order', settings).id;
  const orders = queueMappings(template).find((each) => target(each.properties.FunctionName) === order)!;
  const reserved = ownFunctions(template).map((each) => each.properties.ReservedConcurrentExecutions ?? 0);
  // Tickets are requested before the opening.
  const atOpening = ROUTES.filter((route) => route.throttle && route.throttle !== 'tickets');
  const ofRoute = ({ method, path }: (typeof ROUTES)[number]) => stage.RouteSettings[`${method} ${path}`];
  const inFront = atOpening.map(ofRoute);
  return {
    node_type: redis.CacheNodeType,
    shards: redis.NumNodeGroups,
    replicas: redis.ReplicasPerNodeGroup,
    sync: redis.Durability === 'sync',
    // Null if nothing is warmed.
    table_warm_writes: only(template, 'AWS::DynamoDB::Table').properties.WarmThroughput?.WriteUnitsPerSecond ?? null,
    order_concurrency: orders.properties.ScalingConfig.MaximumConcurrency,
    reserved_concurrency: reserved.reduce((sum, each) => sum + each, 0),
    throttle: throttle(stage.DefaultRouteSettings),
    in_front_throttle: JSON.parse(same(inFront.map((each) => JSON.stringify(throttle(each))))),
    ticket_throttle: throttle(ofRoute(ROUTES.find((route) => route.throttle === 'tickets')!)),
    edge: settings.edge !== undefined,
  };
}

/** The count of both templates, which must be the same. */
function of<T>(count: (template: Template) => T): T {
  return same(Object.values(templates).map(count));
}

/** What costs money while idle. */
function profile(settings: Settings, template: Template) {
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

test('the planner knows what in each profile costs money while idle', async () => {
  const counted = Object.fromEntries(
    (['dev', 'prod', 'parked'] as const).map((name) => [name, profile(DEPLOYED[name], templates[name])]),
  );
  const lanes = settingsOf('edge', { ...DEPLOYMENTS.edge, provisioned: [] });
  counted['lanes'] = profile(lanes, synthesized(lanes));
  // `npx vitest run -u` writes it, and tools/planner/src/profiles.rs reads it.
  await expect(`${JSON.stringify(counted, null, 2)}\n`).toMatchFileSnapshot('../../../tools/planner/profiles.json');
});

test('the planner knows what is deployed', async () => {
  const deployed = {
    dev: deployment(DEPLOYED.dev, templates.dev),
    prod: deployment(DEPLOYED.prod, templates.prod),
    parked: deployment(DEPLOYED.parked, templates.parked),
    batch: of((template) => same(queueMappings(template).map((each) => each.properties.BatchSize))),
    // Except for draw, whose time only counts towards the idle cost.
    function_mb: of((template) => {
      const alike = ownFunctions(template).filter((each) => !each.properties.FunctionName.endsWith('-draw'));
      return same(alike.map((each) => each.properties.MemorySize));
    }),
    provisioned_functions: IN_FRONT.length,
  };
  // tools/planner/tests/in_step.rs holds the planner to this file; `npx vitest run -u` writes it.
  await expect(`${JSON.stringify(deployed, null, 2)}\n`).toMatchFileSnapshot('../../../tools/planner/tests/deployed.json');
});
