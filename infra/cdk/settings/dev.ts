import type { Settings } from '../lib/settings.ts';
import { common, SMALL_NODE } from './common.ts';

/** A cheap stack on AWS that may be destroyed at any time. */
export const dev: Settings = {
  ...common,
  name: 'flash-sale-dev',
  logRetentionDays: 7,
  throttle: {
    requestsPerSecond: 500,
    burst: 1_000,
    challenges: { requestsPerSecond: 200, burst: 400 },
    tokens: { requestsPerSecond: 200, burst: 400 },
    tickets: { requestsPerSecond: 50, burst: 100 },
  },
  // A password is a secret, which costs as much as all scheduled runs; the network only lets functions in.
  redis: { ...SMALL_NODE, shards: 1 },
  network: 'dual-stack',
  observability: 'essential',
  signingSecrets: 'one',
  tags: { application: 'flash-sale', stage: 'dev' },
  // CloudFront costs nothing while idle; the firewall would.
  edge: { line: false, key: 'key1', signInOrigins: [] },
};
