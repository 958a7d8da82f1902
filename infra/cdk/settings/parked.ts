import type { Settings } from '../lib/settings.ts';
import { SMALL_NODE } from './common.ts';
import { prod } from './prod.ts';

/**
 * `prod` between sales. Table, secrets, names and the firewall stay; Redis is one small node, without a replica or a durable log,
 * from which no round may be sold. Unparking creates the cluster of `prod` again, which takes about a quarter of an hour.
 */
export const parked: Settings = {
  ...prod,
  parked: true,
  redis: { ...SMALL_NODE, shards: 1, authentication: true },
  releases: 'in-place',
};
