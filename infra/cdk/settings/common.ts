import type { ElastiCacheRedis, Settings } from '../lib/settings.ts';

/** What every profile begins with: a system that may be destroyed at any time. */
export const common = {
  architecture: 'arm64',
  functionMemoryMb: 256,
  // At `debug` the SDK writes dozens of lines for each request, and schedules make four a minute.
  logLevel: 'info',
  winnersPerSecond: 100,
  pictureHosts: [],
  // The claims in which issuers put a user's groups: most issuers, and Cognito.
  operatorClaims: ['groups', 'cognito:groups'],
  audience: [],
  // Set for each opening in the deployment's file.
  provisioned: [],
  orderConcurrency: 10,
  releases: 'in-place',
  table: {},
  // Each run of a schedule would be traced, which costs as much as one and a half secrets.
  tracing: false,
  tags: {},
  keepData: false,
} satisfies Partial<Settings>;

/** One small node, which a failure empties. */
export const SMALL_NODE: ElastiCacheRedis = {
  nodeType: 'cache.t4g.micro',
  replicas: 0,
  authentication: false,
  durability: 'disabled',
};
