import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmId, AlarmOptions, Alarms } from './alarms.ts';
import { graph, type Part, PERIOD } from './dashboard.ts';
import type { Settings } from './settings.ts';

/** A script occupies the only thread that runs scripts, so a node is saturated well before 100 %. */
const BUSY_PERCENT = 80;
/** With noeviction a full node accepts no more reservations. */
const FULL_PERCENT = 75;
/** A backup or a failover is over by then. */
const LASTING = 2;
/** A node accepts 65,000 connections. */
const MANY_CONNECTIONS = 50_000;

export interface Shard {
  number: number;
  /** Names of its nodes. Which of them is the primary changes. */
  nodes: string[];
}

/** Rings for the most loaded shard. */
export function watchRedis(settings: Settings, alarms: Alarms, shards: Shard[]): Part {
  const worst = (name: string, { nodes, number }: Shard): IMetric => {
    const metrics = nodes.map((node) => of(name, node));
    const [only, ...others] = metrics;
    if (only !== undefined && others.length === 0) return only;
    return new MathExpression({
      expression: `MAX([${nodes.map((_, index) => `s${number}n${index}`).join(', ')}])`,
      usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`s${number}n${index}`, metric])),
      period: PERIOD,
      label: `shard ${number}`,
    });
  };
  const limits: [AlarmId, string, number, AlarmOptions?][] = [
    ['redis-busy', 'EngineCPUUtilization', BUSY_PERCENT, { evaluationPeriods: LASTING }],
    ['redis-full', 'DatabaseMemoryUsagePercentage', FULL_PERCENT],
    ['redis-evicting', 'Evictions', 1],
    ['redis-crowded', 'CurrConnections', MANY_CONNECTIONS],
  ];
  for (const [id, name, limit, options] of limits) {
    for (const shard of shards) {
      if (shard.nodes.length > 1 && settings.emulator !== undefined) continue;
      const part = shards.length > 1 ? `shard-${shard.number}` : undefined;
      alarms.ringAt(id, worst(name, shard), limit, { ...options, part });
    }
  }
  const each = (name: string): IMetric[] => shards.map((shard) => worst(name, shard));
  return {
    title: 'Redis',
    graphs: [
      graph('Engine CPU, %', each('EngineCPUUtilization')),
      graph('Memory, %', each('DatabaseMemoryUsagePercentage')),
      graph('Connections', each('CurrConnections')),
      graph('Evictions', each('Evictions')),
      graph('Scripts, µs', each('EvalBasedCmdsLatency')),
      graph('Replication lag, s', each('ReplicationLag')),
    ],
  };
}

function of(metricName: string, node: string): Metric {
  return new Metric({ namespace: 'AWS/ElastiCache', metricName, dimensionsMap: { CacheClusterId: node }, statistic: Stats.MAXIMUM, period: PERIOD });
}
