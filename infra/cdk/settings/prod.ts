import { OPERATOR_CLAIMS } from '../lib/functions.ts';
import type { Settings } from '../lib/settings.ts';

/** The real thing. Issuer, audience, and where buyers pay come from the file of the deployment. */
export const prod: Settings = {
  name: 'flash-sale',
  architecture: 'arm64',
  functionUpload: { kind: 'bootstrap' },
  functionMemoryMb: 256,
  logLevel: 'info',
  logRetentionDays: 90,
  orderConcurrency: 50,
  winners: { perSecond: 100 },
  pictureHosts: [],
  // 165 of the account's 1,000. At 50 ms a call, payment takes 1,000 callbacks a second; order and expiry are held to as many
  // batches of ten at once, winners to the two between which its rate is divided, and webhook to fifty requests at once; a scheduled function runs once a minute, and the second one is for a run by hand.
  reservedConcurrency: {
    account: 1_000,
    functions: {
      payment: 50,
      admin: 10,
      order: 50,
      dead_letter: 20,
      expiry: 20,
      warmup: 2,
      reconciliation: 2,
      daily_reset: 2,
      draw: 2,
      winners: 2,
      webhook: 5,
    },
  },
  // The account's own limit is 10,000 a second unless AWS raised it.
  throttle: {
    requestsPerSecond: 10_000,
    burst: 5_000,
    challenges: { requestsPerSecond: 4_000, burst: 2_000 },
    tokens: { requestsPerSecond: 4_000, burst: 2_000 },
    // Three times what a million people are who come evenly within an hour.
    tickets: { requestsPerSecond: 1_000, burst: 500 },
  },
  identity: { kind: 'oidc', issuer: '', audience: [] },
  operatorClaims: OPERATOR_CLAIMS,
  redis: {
    kind: 'elasticache',
    nodeType: 'cache.r7g.large',
    // A sale has one lane unless its terms say otherwise, and a lane one shard: whose sales use more lanes gives more.
    shards: 1,
    replicas: 1,
    tls: true,
    authentication: true,
    durability: 'sync',
  },
  // Placing an order costs six write units of the table: this takes over a thousand a second from the first one on.
  network: 'endpoints',
  observability: 'full',
  signingSecrets: 'each',
  releases: 'canary',
  table: { warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 10_000 } },
  // Of each opening, in the file of the deployment.
  provisioned: [],
  tracing: true,
  tags: { application: 'flash-sale', stage: 'prod' },
  keepData: true,
  protectData: true,
  requireTls: true,
  expressionAlarms: true,
  // A buyer of one sale sends about ten requests, and two thousand of them can share the address of a mobile network.
  edge: { requestsPer5MinutesPerIp: 20_000, line: true, key: 'key1', page: { signInOrigins: [] } },
  extraEnvironment: {},
};
