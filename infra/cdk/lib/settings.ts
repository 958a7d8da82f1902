import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { IN_FRONT, QUEUE_FED, type ReservedFunction } from './functions.ts';

export type Architecture = 'arm64' | 'x86_64';

/** Everything in which deployments differ. */
export interface Settings {
  /** The prefix of every physical name, so that an account can have two deployments. */
  name: string;
  architecture: Architecture;
  /** The qualifier of `cdk bootstrap --qualifier`, if the account has its own. */
  qualifier?: string;
  functionMemoryMb: number;
  logLevel: 'error' | 'warn' | 'info' | 'debug' | 'trace';
  logRetentionDays: number;
  /** How many order consumers run concurrently. It bounds the writes in a rush. */
  orderConcurrency: number;
  /** How many winners a second are reported to the gift service at most. */
  winnersPerSecond: number;
  /** The gift service that is notified of winners. Without it nobody is. */
  giftUrl?: string;
  /** Hosts that pictures of goods may come from, besides the page itself. The page's browsers load from no other. */
  pictureHosts: string[];
  /** Requests per second that a sale is limited to once it is asked for twice as much as expected, or its plan if that is more.
   *  Without it that is left to operators. */
  throttleBusySalesTo?: number;
  /** Where events are sent, besides the bus. Without it nothing is sent. */
  webhookUrl?: string;
  /** Concurrent executions that a crowd cannot use up. Without it the functions share the account's limit. */
  reservedConcurrency?: ReservedConcurrency;
  /** Limits of all requests together, and of those in front of a sale, which leave room for the rest. */
  throttle: Throttle & Record<ThrottledRoute, Throttle>;
  /** The OpenID Connect issuer of buyers and operators. Without it a Cognito user pool is created. A profile that has '' requires the deployment to name one. */
  issuer?: string;
  /** The accepted values of `aud` in tokens. The first is the page's client id. */
  audience: string[];
  /** How functions beside Redis reach SQS and Secrets Manager: endpoints in the network, or outgoing IPv6, which is free. */
  network: 'endpoints' | 'dual-stack';
  /** `essential` has few alarms, no dashboard, and no metrics of our own except in the log. */
  observability: 'full' | 'essential';
  /** Whether payments, winners and events each have their own signing key, or share one. */
  signingSecrets: 'each' | 'one';
  /**
   * How functions that answer people are switched to a new version: a tenth of the requests first, or all at once, both behind an
   * alias; or without versions.
   */
  releases: 'canary' | 'at-once' | 'in-place';
  /**
   * The claims that say who is an operator: of those that a token has, the whole text of each must be the group, or a list of
   * only the group. An issuer whose users are in several groups sends a separate text claim, which is named here.
   */
  operatorClaims: string[];
  redis: ElastiCacheRedis;
  /** Your own Redis instead of ElastiCache. */
  redisUrl?: string;
  /** What the table can handle from the start. It can only be raised, and is paid for once. */
  table: { warmThroughput?: { readUnitsPerSecond: number; writeUnitsPerSecond: number } };
  /** When functions in front of a sale keep started processes ready for its crowd. */
  provisioned: ProvisionedWindow[];
  /** Whether requests are traced in AWS X-Ray. */
  tracing: boolean;
  /** Tags of everything that can have tags. */
  tags: Record<string, string>;
  /** Whether table, secret and users are kept when the stack is deleted, and table and users refuse to be deleted. */
  keepData: boolean;
  /** The stack is being created. Nothing refuses to be deleted yet, since a first deployment that fails must delete what it has created. */
  first?: boolean;
  /** Between sales: one small node instead of the shards. No round may be open. */
  parked?: boolean;
  /** Who receives the alarms. Required in prod. */
  alarmEmail?: string;
  /** A CloudFront distribution with a firewall, in front of the page and the gateway. */
  edge?: EdgeSettings;
  /**
   * The emulator's address from the functions' point of view, if this is deployed on one. It has no TLS, no bootstrap stack, and
   * alarms only on a single metric.
   */
  emulator?: string;
}

/**
 * How the account's concurrent executions are divided: `functions` are reserved, and all other functions share the rest,
 * including provisioned processes. A reservation is also a limit: the function never has more executions.
 */
export interface ReservedConcurrency {
  /** Lambda's limit for the account in this region: 1,000 unless AWS has raised it, and 10 in a new account. */
  account: number;
  functions: Record<ReservedFunction, number>;
}

export interface Throttle {
  requestsPerSecond: number;
  burst: number;
}

export const THROTTLED_ROUTES = ['challenges', 'tokens', 'tickets'] as const;

export type ThrottledRoute = (typeof THROTTLED_ROUTES)[number];

export interface EdgeSettings {
  /**
   * The firewall's limit: an address that sends more is blocked until the last five minutes have fewer. Without it there is no
   * firewall.
   */
  requestsPer5MinutesPerIp?: number;
  /** Whether CloudFront checks tickets of sales with a line. The functions behind the gateway check them anyway. */
  line: boolean;
  /**
   * Your own domain name. Without one CloudFront assigns one, which also accepts clients with old TLS. With its zone of Route 53
   * the certificate and the records are created; otherwise give the certificate, and create the record yourself.
   */
  domain?: { name: string; certificateArn?: string; zone?: HostedZone };
  /** Which of the keys in the edge's secret CloudFront sends; it changes in a rotation (`./flash rotate-edge-key`). */
  key: string;
  /** Functions also answer requests that bypass the edge, for the deployment that puts an edge in front of a running shop. */
  letPast?: boolean;
  /** Where buyers pay; the page adds `reservation_id` and `return_to`. Without it a page says how to pay from the shell. */
  payUrl?: string;
  /** Where buyers reach a person: `mailto:…` or `https://…`. Without it the page names no contact. */
  contactUrl?: string;
  /** Where the page asks for tokens, if on other hosts than the issuer's. */
  signInOrigins: string[];
}

/** A public hosted zone of Route 53. */
export interface HostedZone {
  id: string;
  name: string;
}

export interface ElastiCacheRedis {
  nodeType: string;
  /** Cluster mode with this many shards. Without it there is one shard, and no cluster mode. */
  shards?: number;
  /** Replicas of each shard, in other zones. With one, failover is automatic. */
  replicas: number;
  /** Functions sign in with a user and a password generated by AWS. */
  authentication: boolean;
  /**
   * Whether a write is in the log of several zones before it is answered (`sync`), shortly after (`async`), or never.
   * CloudFormation changes from or to `disabled` only by replacing the cluster.
   */
  durability: 'sync' | 'async' | 'disabled';
}

/** This many processes of each function in front of a sale, from before its opening until after its crowd. */
export interface ProvisionedWindow {
  /** A time in UTC such as 2026-12-01T17:45:00Z, or cron(45 17 * * ? *) for a recurring sale. */
  from: string;
  to: string;
  /** The time zone of a cron expression. */
  timeZone?: string;
  count: number;
}

/** The person who typed the command can fix it: the message is enough, a stack trace would only hide it. */
export class UsageError extends Error {}

// Lambda, queues and alarms take names of 64 to 255 characters; the longest suffix here is well below 40.
const NAME = /^[a-z][a-z0-9-]{0,23}$/;
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LOG_LEVELS: readonly string[] = ['error', 'warn', 'info', 'debug', 'trace'];
// A group has one primary and at most five replicas.
const REPLICAS = { least: 0, most: 5 };
const SHARDS = { least: 1, most: 90 };
/** Durability is for these, in cluster mode, with a replica and TLS (ElastiCache, limitations of durability). */
const DURABLE_NODES = /^cache\.(r6g|r7g|r8g|m6g|m7g|m8g|c7gn|c8gn)\./;
/** What a table that nobody has used yet can take: below that there is nothing to warm. */
const COLD_TABLE = { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 };
// The account's own limit is 1,000 processes unless AWS raised it; this is only against a slip of the finger.
const PROVISIONED = { least: 1, most: 10_000 };
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
const CRON = /^cron\(\S+( \S+){5}\)$/;
// AWS takes 50 tags; CloudFormation adds its own.
const MAX_TAGS = 40;
/** Lambda refuses reservations that leave the other functions less than this ("Configuring reserved concurrency"). */
export const LEAST_UNRESERVED = 100;
// The range that an SQS event source accepts.
const CONCURRENCY = { least: 2, most: 1000 };
/** The fewest processes that can read a queue: the rate of winners is divided among them. */
export const WINNER_PROCESSES = CONCURRENCY.least;
/** Runs that load what Redis has lost: each takes ten rounds at a time. */
export const REBUILD_PROCESSES = CONCURRENCY.least;
/** Processes that send events, unless concurrency is reserved: with ten requests each, fifty in parallel. */
export const WEBHOOK_PROCESSES = 5;
// At least one a second in each process: a batch of ten has to fit into the function's timeout.
const WINNERS_PER_S = { least: WINNER_PROCESSES, most: 10_000 };
/** The range of `POST /v1/admin/sales/{sale_id}/throttle`. */
const THROTTLE_PER_S = { least: 1, most: 100_000 };
/** A claim's name in a list of them. */
const CLAIM = /^[^\s,]+$/;
/** CDK's own name for what `cdk bootstrap` made. */
const QUALIFIER = /^[a-z0-9]{1,10}$/;
/** The key that the edge's secret is created with. */
export const FIRST_KEY = 'key1';
const EDGE_KEY = /^key[1-9][0-9]{0,3}$/;
/** Scopes are what a client asks for, and the subject is what people choose in many issuers. */
const NO_OPERATOR_CLAIMS = ['scope', 'scp', 'sub'];
const MEMORY_MB = { least: 128, most: 10240 };
// The range of a rate-based rule of AWS WAF.
const REQUESTS_PER_IP = { least: 10, most: 2_000_000_000 };

/** Whether a rule holds, and what to say if it does not. */
type Rule = [holds: boolean, problem: string];

function within(name: string, value: number, { least, most }: { least: number; most: number }): Rule {
  return [Number.isInteger(value) && value >= least && value <= most, `${name}: ${least} to ${most}; got ${value}`];
}

/** The rule of a value that may be left out. */
function ifGiven<T>(value: T | undefined, rule: (value: T) => Rule): Rule[] {
  return value === undefined ? [] : [rule(value)];
}

/** The same rule as in `shared/messaging/src/webhook.rs`: plain HTTP is for tests, and stays on this machine. */
function isReceiver(text: string, { emulator }: Settings): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isHere = ['127.0.0.1', '[::1]'].includes(hostname);
  return username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isHere && emulator !== undefined));
}

/** Returns the settings, or throws one error that begins with `what` and names every problem. */
export function validated(settings: Settings, what = 'The settings are'): Settings {
  const rules = [
    ...generalRules(settings),
    ...throttleRules(settings),
    ...edgeRules(settings),
    ...identityRules(settings),
    ...deploymentRules(settings),
    ...redisRules(settings),
    ...tableRules(settings),
    ...provisionedRules(settings),
    ...reservedRules(settings),
  ];
  refuse(what, rules.flatMap(([holds, problem]) => (holds ? [] : [problem])));
  return settings;
}

/** Throws one error that begins with `what` and names every problem, if there are any. */
export function refuse(what: string, problems: string[]): void {
  if (problems.length > 0) throw new UsageError(`${what} invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
}

function generalRules(settings: Settings): Rule[] {
  const { name, logLevel, logRetentionDays, operatorClaims } = settings;
  const receiver = (setting: string) => (url: string): Rule => [isReceiver(url, settings), `${setting}: an https URL without a user name; got "${url}"`];
  return [
    [NAME.test(name), `name: 1 to 24 of a-z, 0-9 and "-", first a letter; got "${name}"`],
    [LOG_LEVELS.includes(logLevel), `logLevel: one of ${LOG_LEVELS.join(', ')}; got "${logLevel}"`],
    within('functionMemoryMb', settings.functionMemoryMb, MEMORY_MB),
    [
      logRetentionDays in RetentionDays && logRetentionDays !== RetentionDays.INFINITE,
      `logRetentionDays: a number of days that CloudWatch Logs supports; got ${logRetentionDays}`,
    ],
    within('orderConcurrency', settings.orderConcurrency, CONCURRENCY),
    within('winnersPerSecond', settings.winnersPerSecond, WINNERS_PER_S),
    ...ifGiven(settings.throttleBusySalesTo, (limit) => within('throttleBusySalesTo', limit, THROTTLE_PER_S)),
    ...settings.pictureHosts.map((host): Rule => [HOST_NAME.test(host), `pictureHosts: host names, such as img.example.com; got "${host}"`]),
    ...ifGiven(settings.giftUrl, receiver('giftUrl')),
    ...ifGiven(settings.webhookUrl, receiver('webhookUrl')),
    ...ifGiven(settings.alarmEmail, (address) => [/^\S+@\S+$/.test(address), `alarmEmail: an e-mail address; got "${address}"`]),
    ...ifGiven(settings.emulator, (at) => [/^http:\/\/[^/]+$/.test(at), `emulator: give its address: AWS_ENDPOINT_URL=http://HOST:PORT; got "${at}"`]),
    [
      operatorClaims.length > 0 && operatorClaims.every((claim) => CLAIM.test(claim) && !NO_OPERATOR_CLAIMS.includes(claim)),
      `operatorClaims: at least one claim that only the issuer controls, not ${NO_OPERATOR_CLAIMS.join(', ')}; got "${operatorClaims.join(',')}"`,
    ],
    [Object.keys(settings.tags).length <= MAX_TAGS, `tags: at most ${MAX_TAGS}`],
  ];
}

function throttleRules({ throttle }: Settings): Rule[] {
  const inFront = THROTTLED_ROUTES.map((route) => throttle[route]);
  const usable = [throttle, ...inFront].every(({ requestsPerSecond, burst }) => requestsPerSecond > 0 && Number.isInteger(burst) && burst > 0);
  if (!usable) return [[false, 'throttle: requestsPerSecond and burst must be above 0']];
  return (['requestsPerSecond', 'burst'] as const).map((key): Rule => [
    inFront.reduce((sum, each) => sum + each[key], 0) < throttle[key],
    `throttle: ${THROTTLED_ROUTES.join(', ')} together must leave some ${key} of the total`,
  ]);
}

function edgeRules({ edge, keepData }: Settings): Rule[] {
  if (edge === undefined) return [];
  const { payUrl, contactUrl, signInOrigins } = edge;
  return [
    ...ifGiven(edge.requestsPer5MinutesPerIp, (limit) => within('edge.requestsPer5MinutesPerIp', limit, REQUESTS_PER_IP)),
    [EDGE_KEY.test(edge.key), `edgeKey: key and a number, such as key1; got "${edge.key}"`],
    ...(edge.domain === undefined ? [] : domainRules(edge.domain)),
    [
      payUrl === undefined ? !keepData : payUrl.startsWith('https://') && URL.canParse(payUrl),
      `payUrl: where buyers pay, https://…; got "${payUrl ?? ''}"`,
    ],
    ...ifGiven(contactUrl, (url) => [
      /^(https:\/\/|mailto:[^@\s]+@)/.test(url) && URL.canParse(url),
      `contactUrl: mailto:NAME@HOST or https://…; got "${url}"`,
    ]),
    ...signInOrigins.map((origin): Rule => [/^https:\/\/[^/\s;,]+$/.test(origin), `signInOrigins: https://HOST and no path; got "${origin}"`]),
  ];
}

function domainRules({ name, certificateArn, zone }: NonNullable<EdgeSettings['domain']>): Rule[] {
  return [
    [HOST_NAME.test(name), `domain.name: a host name, such as shop.example.com; got "${name}"`],
    [
      certificateArn !== undefined || zone !== undefined,
      'domain: give its `zone` of Route 53, to create certificate and record; or a `certificateArn` in us-east-1',
    ],
    ...ifGiven(certificateArn, (arn) => [
      /^arn:[^:]+:acm:us-east-1:/.test(arn),
      `domain.certificateArn: must be in us-east-1, for CloudFront; got "${arn}"`,
    ]),
    ...ifGiven(zone, ({ id }) => [/^Z[A-Z0-9]{1,31}$/.test(id), `domain.zone.id: such as Z0123456789ABC; got "${id}"`]),
    ...ifGiven(zone, (of) => [name === of.name || name.endsWith(`.${of.name}`), `domain.zone.name: ${name} is not in "${of.name}"`]),
  ];
}

/** Further requirements of a deployment to AWS. */
function deploymentRules({ qualifier, keepData, alarmEmail, parked, provisioned, releases, observability, emulator, edge }: Settings): Rule[] {
  const canary = releases === 'canary';
  return [
    ...ifGiven(qualifier, (given) => [
      QUALIFIER.test(given),
      `qualifier: 1 to 10 of a-z and 0-9, as \`cdk bootstrap --qualifier\` takes it; got "${given}"`,
    ]),
    [!keepData || emulator !== undefined || alarmEmail !== undefined, 'alarmEmail: required for production alarms; AWS asks the address to confirm'],
    [!parked || provisioned.length === 0, 'provisioned: a parked deployment gets no crowd; use the profile prod'],
    [!parked || !canary, 'releases: a parked deployment has no requests to judge a canary by; leave it out'],
    [
      parked === true || !canary || observability === 'full',
      'releases: this profile lacks the alarms that judge a canary; use "at-once", or leave it out',
    ],
    [emulator === undefined || (!canary && edge === undefined), 'releases, edge: the emulator has neither CodeDeploy nor CloudFront'],
  ];
}

function identityRules({ issuer: given, audience, emulator }: Settings): Rule[] {
  if (given === undefined && audience.length === 0) return [];
  const issuer = given ?? '';
  const isUrl = URL.canParse(issuer);
  return [
    [issuer !== '', 'issuer: give the OIDC issuer that signs your buyers in, https://…; a profile without `issuer` creates a user pool'],
    [issuer === '' || isUrl, `issuer: not a URL: "${issuer}"`],
    [!isUrl || emulator !== undefined || issuer.startsWith('https://'), `issuer: must be https; got "${issuer}"`],
    [
      audience.length > 0 && audience.every((part) => part !== ''),
      "audience: give at least one value of `aud` in tokens; the first one is the page's client id",
    ],
  ];
}

function redisRules({ redis, redisUrl, emulator, keepData, parked }: Settings): Rule[] {
  if (redisUrl !== undefined) {
    return [[/^rediss?(\+cluster)?:\/\/[^/]+/.test(redisUrl), `redisUrl: must be redis://HOST:PORT, or with rediss or +cluster; got "${redisUrl}"`]];
  }
  const { nodeType, replicas, shards } = redis;
  const durable = shards !== undefined && replicas > 0 && emulator === undefined && DURABLE_NODES.test(nodeType);
  return [
    [nodeType.startsWith('cache.'), `redis.nodeType: must be a cache.… type; got "${nodeType}"`],
    within('redis.replicas', replicas, REPLICAS),
    [!keepData || parked === true || replicas > 0, 'redis.replicas: at least 1 where keepData is on'],
    ...ifGiven(shards, (count) => within('shards', count, SHARDS)),
    [!redis.authentication || emulator === undefined, 'redis.authentication: the emulator has no TLS'],
    [redis.durability === 'disabled' || durable, 'redis.durability: needs shards, a replica, TLS and nodes of r6g, m6g, c7gn or newer'],
  ];
}

function tableRules({ table: { warmThroughput } }: Settings): Rule[] {
  if (warmThroughput === undefined) return [];
  return (['readUnitsPerSecond', 'writeUnitsPerSecond'] as const).map((unit): Rule => [
    Number.isInteger(warmThroughput[unit]) && warmThroughput[unit] >= COLD_TABLE[unit],
    `table.warmThroughput.${unit}: at least ${COLD_TABLE[unit]}; got ${warmThroughput[unit]}`,
  ]);
}

function provisionedRules({ provisioned, emulator }: Settings): Rule[] {
  if (provisioned.length > 0 && emulator !== undefined) return [[false, 'provisioned: the emulator does not support this']];
  return provisioned.flatMap(({ from, to, count, timeZone }): Rule[] => {
    const at = `provisioned ${from} to ${to}:`;
    const moments = MOMENT.test(from) && MOMENT.test(to);
    return [
      [moments || (CRON.test(from) && CRON.test(to)), `${at} two times such as 2026-12-01T17:45:00Z, or two cron(…) of six parts`],
      [!moments || Date.parse(from) < Date.parse(to), `${at} the end must come after the start`],
      [!moments || timeZone === undefined, `${at} timeZone is for cron(…); times are in UTC`],
      within(`${at} count`, count, PROVISIONED),
    ];
  });
}

function reservedRules({ reservedConcurrency, orderConcurrency, provisioned, emulator }: Settings): Rule[] {
  if (reservedConcurrency === undefined) return [];
  const setting = 'reservedConcurrency';
  if (emulator !== undefined) return [[false, `${setting}: the emulator does not support this`]];
  const { account, functions } = reservedConcurrency;
  if (!Number.isInteger(account) || account < 1) return [[false, `${setting}.account: a whole number above 0; got ${account}`]];

  // The event source of a queue is limited to the same number, and has a minimum.
  const least = (name: string): [number, string] => {
    if (name === 'order') return [orderConcurrency, `orderConcurrency, ${orderConcurrency}`];
    if (name === 'warmup') return [REBUILD_PROCESSES + 1, `${REBUILD_PROCESSES} for its queue and one for its schedule`];
    const fed = QUEUE_FED.some((each) => each === name);
    return fed ? [CONCURRENCY.least, `${CONCURRENCY.least}, the minimum of an event source`] : [1, '1'];
  };
  const each = Object.entries(functions).map(([name, count]): Rule => {
    const [bound, why] = least(name);
    return [Number.isInteger(count) && count >= bound, `${setting}.functions.${name}: at least ${why}; got ${count}`];
  });
  if (!each.every(([holds]) => holds)) return each;

  const { reserved, waiting, needed } = concurrencyOf({ reservedConcurrency, provisioned });
  return [
    [
      // Not `<=`: a window without a count makes NaN, and `provisionedRules` says what is missing.
      !(needed > account),
      `${setting}: ${reserved} reserved + ${LEAST_UNRESERVED} that AWS keeps unreserved + ${waiting} provisioned = ${needed}, ` +
        `but the account has ${account}: ask AWS for more (\`./flash preflight\` says how) and say so in accountConcurrency, or reserve less`,
    ],
  ];
}

/** The concurrent executions that an account needs at least, and what for. */
export function concurrencyOf({ reservedConcurrency, provisioned }: Pick<Settings, 'reservedConcurrency' | 'provisioned'>) {
  const reserved = Object.values(reservedConcurrency?.functions ?? {}).reduce((sum, each) => sum + each, 0);
  // A window replaces the previous one.
  const waiting = IN_FRONT.length * Math.max(0, ...provisioned.map(({ count }) => count));
  return { reserved, waiting, needed: reserved + LEAST_UNRESERVED + waiting };
}
