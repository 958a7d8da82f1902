import { OPERATOR_CLAIMS } from '../lib/functions.ts';
import type { ElastiCacheRedis, Settings } from '../lib/settings.ts';

/** What every profile begins with. */
export const common = {
  architecture: 'arm64',
  functionUpload: { kind: 'bootstrap' },
  functionMemoryMb: 256,
  logLevel: 'info',
  winners: { perSecond: 100 },
  pictureHosts: [],
  operatorClaims: OPERATOR_CLAIMS,
  // Set for each opening in the deployment's file.
  provisioned: [],
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
