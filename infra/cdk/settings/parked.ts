import type { Settings } from '../lib/settings.ts';
import { prod } from './prod.ts';

/**
 * `prod` between sales. Table, secrets, names and the firewall stay; Redis is one small node, without a replica or a durable log,
 * from which no round may be sold. Unparking creates the cluster of `prod` again, which takes about a quarter of an hour.
 */
export const parked: Settings = {
  ...prod,
  parked: true,
  redis: {
    kind: 'elasticache',
    nodeType: 'cache.t4g.micro',
    shards: 1,
    replicas: 0,
    tls: true,
    authentication: true,
    durability: 'disabled',
  },
  releases: 'in-place',
  tags: { application: 'flash-sale', stage: 'prod' },
};
