import type { Settings } from '../lib/settings.ts';
import { common } from './common.ts';

/** Production. Issuer, audience, and where buyers pay come from the deployment's file. */
export const prod: Settings = {
  ...common,
  name: 'flash-sale',
  logRetentionDays: 90,
  orderConcurrency: 50,
  // 167 of the account's 1,000. At 50 ms a call, payment handles 1,000 callbacks a second; order and expiry are limited to as
  // many concurrent batches of ten, winners to the two between which its rate is divided, and webhook to fifty concurrent
  // requests; a scheduled function runs once a minute, its second execution is for a manual run, and the other two of warmup load
  // rounds that Redis has lost.
  reservedConcurrency: {
    account: 1_000,
    functions: {
      payment: 50, admin: 10, order: 50, dead_letter: 20, expiry: 20, warmup: 4, reconciliation: 2, daily_reset: 2, draw: 2,
      winners: 2, webhook: 5,
    },
  },
  // The account's own limit is 10,000 a second unless AWS has raised it.
  throttle: {
    requestsPerSecond: 10_000,
    burst: 5_000,
    challenges: { requestsPerSecond: 4_000, burst: 2_000 },
    tokens: { requestsPerSecond: 4_000, burst: 2_000 },
    // Three times the rate of a million people who come evenly within an hour.
    tickets: { requestsPerSecond: 1_000, burst: 500 },
  },
  issuer: '',
  redis: {
    nodeType: 'cache.r7g.large',
    // A sale has one lane unless its terms say otherwise, and a lane needs one shard: set more for sales with more lanes.
    shards: 1,
    replicas: 1,
    authentication: true,
    durability: 'sync',
  },
  network: 'endpoints',
  observability: 'full',
  signingSecrets: 'each',
  releases: 'canary',
  // Placing an order costs six write units of the table: this allows over a thousand orders a second from the start.
  table: { warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 10_000 } },
  tracing: true,
  tags: { application: 'flash-sale', stage: 'prod' },
  keepData: true,
  // A buyer of one sale sends about ten requests, and two thousand buyers can share the address of a mobile network.
  edge: { requestsPer5MinutesPerIp: 20_000, line: true, key: 'key1', signInOrigins: [] },
};
