import { OPERATOR_CLAIMS } from '../lib/functions.ts';
import type { ElastiCacheRedis, Settings } from '../lib/settings.ts';

/** What every profile begins with: a system that may be destroyed at any time. */
export const common = {
  architecture: 'arm64',
  functionUpload: { kind: 'bootstrap' },
  functionMemoryMb: 256,
  // At `debug` the SDK writes dozens of lines for each request, and schedules make four a minute.
  logLevel: 'info',
  winners: { perSecond: 100 },
  pictureHosts: [],
  operatorClaims: OPERATOR_CLAIMS,
  // Set for each opening in the deployment's file.
  provisioned: [],
  orderConcurrency: 10,
  releases: 'in-place',
  table: {},
  tracing: false,
  tags: {},
  keepData: false,
  protectData: false,
} satisfies Partial<Settings>;

/** One small node, which a failure empties. */
export const SMALL_NODE: ElastiCacheRedis = {
  kind: 'elasticache',
  nodeType: 'cache.t4g.micro',
  replicas: 0,
  tls: true,
  authentication: false,
  durability: 'disabled',
};
