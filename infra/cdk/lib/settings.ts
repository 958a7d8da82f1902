import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { IN_FRONT, QUEUE_FED, type ReservedFunction } from './functions.ts';

export type Architecture = 'arm64' | 'x86_64';

/** Everything in which deployments differ. */
export interface Settings {
  /** The prefix of every physical name, so that an account can have two deployments. */
  name: string;
  architecture: Architecture;
  /**
   * How built functions get to the account: through the bucket of `cdk bootstrap`, with the account's qualifier if it has one, or
   * through an existing bucket.
   */
  functionUpload: { kind: 'bootstrap'; qualifier?: string } | { kind: 'bucket'; name: string };
  functionMemoryMb: number;
  logLevel: 'error' | 'warn' | 'info' | 'debug' | 'trace';
  logRetentionDays: number;
  /** How many order consumers run concurrently. It bounds the writes in a rush. */
  orderConcurrency: number;
  /** How many winners a second are reported to the gift service at most, and its address. Without an address nobody is notified. */
  winners: { perSecond: number; url?: string };
  /** Hosts that pictures of goods may come from, besides the page itself. The page's browsers load from no other. */
  pictureHosts: string[];
  /** Requests per second that a sale is limited to once it is asked for twice as much as expected, or its plan if that is more.
   *  Without it that is left to operators. */
  throttleBusySalesTo?: number;
  /** Where events are sent, besides the bus. Without it nothing is sent. */
  webhook?: { url: string };
  /** Concurrent executions that a crowd cannot use up. Without it the functions share the account's limit. */
  reservedConcurrency?: ReservedConcurrency;
  /** Limits of all requests together, and of those in front of a sale, which leave room for the rest. */
  throttle: Throttle & Record<ThrottledRoute, Throttle>;
  identity: OidcIdentity | { kind: 'cognito' };
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
  redis: ElastiCacheRedis | { kind: 'external'; url: string };
  table: TableSettings;
  /** When functions in front of a sale keep started processes ready for its crowd. */
  provisioned: ProvisionedWindow[];
  /** Whether requests are traced in AWS X-Ray. */
  tracing: boolean;
  /** Tags of everything that can have tags. */
  tags: Record<string, string>;
  /** Whether table, secret and users are kept when the stack is deleted, and the table refuses to be deleted. */
  keepData: boolean;
  /**
   * The table refuses to be deleted. Off while the stack is created, since a failed first deployment could not delete it
   * otherwise: the tool turns it on in a second step.
   */
  protectData: boolean;
  /** Between sales: one small node instead of the shards. No round may be open. */
  parked?: boolean;
  /** Queues and the topic refuse plain HTTP, which is all that the emulator supports. */
  requireTls: boolean;
  alarmEmail?: string;
  /** Alarms on expressions over metrics. The emulator only supports those on a single metric. */
  expressionAlarms: boolean;
  /** A CloudFront distribution with a firewall, in front of the page and the gateway. */
  edge?: EdgeSettings;
  /** The emulator's address from the functions' point of view, if this is deployed on one. */
  emulator?: string;
  /** Additional environment variables of every function. */
  extraEnvironment: Record<string, string>;
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
  page: PageSettings;
}

/** A public hosted zone of Route 53. */
export interface HostedZone {
  id: string;
  name: string;
}

export interface PageSettings {
  /** Where buyers pay; the page adds `reservation_id` and `return_to`. Without it a page says how to pay from the shell. */
  payUrl?: string;
  /** Where buyers reach a person: `mailto:…` or `https://…`. Without it the page names no contact. */
  contactUrl?: string;
  /** Where the page asks for tokens, if on other hosts than the issuer's. */
  signInOrigins: string[];
}

export interface OidcIdentity {
  kind: 'oidc';
  issuer: string;
  audience: string[];
}

export interface ElastiCacheRedis {
  kind: 'elasticache';
  nodeType: string;
  /** Cluster mode with this many shards. Without it there is one shard, and no cluster mode. */
  shards?: number;
  /** Replicas of each shard, in other zones. With one, failover is automatic. */
  replicas: number;
  tls: boolean;
  /** Functions sign in with a user and a password generated by AWS. */
  authentication: boolean;
  /**
   * Whether a write is in the log of several zones before it is answered (`sync`), shortly after (`async`), or never.
   * CloudFormation changes from or to `disabled` only by replacing the cluster.
   */
  durability: 'sync' | 'async' | 'disabled';
}

export interface TableSettings {
  /** What the table can handle from the start. It can only be raised, and is paid for once. */
  warmThroughput?: { readUnitsPerSecond: number; writeUnitsPerSecond: number };
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

export class SettingsError extends UsageError {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The settings are invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

// Lambda, queues and alarms take names of 64 to 255 characters; the longest suffix here is well below 40.
const NAME = /^[a-z][a-z0-9-]{0,23}$/;
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LOG_LEVELS: readonly string[] = ['error', 'warn', 'info', 'debug', 'trace'];
// A group has one primary and at most five replicas.
const MAX_REPLICAS = 5;
const MAX_SHARDS = 90;
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
const LEAST_UNRESERVED = 100;
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
const EDGE_KEY = /^key[1-9][0-9]{0,3}$/;
/** Scopes are what a client asks for, and the subject is what people choose in many issuers. */
const NO_OPERATOR_CLAIMS = ['scope', 'scp', 'sub'];
const MEMORY_MB = { least: 128, most: 10240 };
// The range of a rate-based rule of AWS WAF.
const REQUESTS_PER_IP = { least: 10, most: 2_000_000_000 };

function within(value: number, { least, most }: { least: number; most: number }): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

/** The same rule as in `shared/messaging/src/webhook.rs`: plain HTTP is for tests, and stays on this machine. */
function isReceiver(text: string, { requireTls }: Settings): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isHere = ['127.0.0.1', '[::1]'].includes(hostname);
  return username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isHere && !requireTls));
}

/** Returns the settings, or throws one error that names every problem. */
export function validated(settings: Settings): Settings {
  const problems: string[] = [];
  const must = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };

  must(NAME.test(settings.name), `name: 1 to 24 of a-z, 0-9 and "-", first a letter; got "${settings.name}"`);
  must(LOG_LEVELS.includes(settings.logLevel), `logLevel: one of ${LOG_LEVELS.join(', ')}; got "${settings.logLevel}"`);
  const mustBeIn = (bounds: { least: number; most: number }, name: string, value: number): void =>
    must(within(value, bounds), `${name}: ${bounds.least} to ${bounds.most}; got ${value}`);
  mustBeIn(MEMORY_MB, 'functionMemoryMb', settings.functionMemoryMb);
  must(
    settings.logRetentionDays in RetentionDays && settings.logRetentionDays !== RetentionDays.INFINITE,
    `logRetentionDays: a number of days that CloudWatch Logs supports; got ${settings.logRetentionDays}`,
  );
  mustBeIn(CONCURRENCY, 'orderConcurrency', settings.orderConcurrency);
  mustBeIn(WINNERS_PER_S, 'winners.perSecond', settings.winners.perSecond);
  if (settings.throttleBusySalesTo !== undefined) mustBeIn(THROTTLE_PER_S, 'throttleBusySalesTo', settings.throttleBusySalesTo);
  for (const host of settings.pictureHosts) {
    must(HOST_NAME.test(host), `pictureHosts: host names, such as img.example.com; got "${host}"`);
  }
  const receivers = { 'winners.url': settings.winners.url, 'webhook.url': settings.webhook?.url };
  for (const [name, url] of Object.entries(receivers)) {
    must(url === undefined || isReceiver(url, settings), `${name}: an https URL without a user name; got "${url}"`);
  }
  if (settings.alarmEmail !== undefined) {
    must(/^\S+@\S+$/.test(settings.alarmEmail), `alarmEmail: an e-mail address; got "${settings.alarmEmail}"`);
  }
  if (settings.emulator !== undefined) {
    must(
      /^http:\/\/[^/]+$/.test(settings.emulator),
      `emulator: give its address: AWS_ENDPOINT_URL=http://HOST:PORT; got "${settings.emulator}"`,
    );
  }
  problems.push(
    ...throttleProblems(settings),
    ...edgeProblems(settings),
    ...identityProblems(settings),
    ...deploymentProblems(settings),
    ...redisProblems(settings),
    ...tableProblems(settings),
    ...provisionedProblems(settings),
    ...reservedProblems(settings),
  );
  must(
    settings.operatorClaims.length > 0 &&
      settings.operatorClaims.every((claim) => CLAIM.test(claim) && !NO_OPERATOR_CLAIMS.includes(claim)),
    `operatorClaims: at least one claim that only the issuer controls, not ${NO_OPERATOR_CLAIMS.join(', ')}; got "${settings.operatorClaims.join(',')}"`,
  );
  must(Object.keys(settings.tags).length <= MAX_TAGS, `tags: at most ${MAX_TAGS}`);

  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

function throttleProblems({ throttle }: Settings): string[] {
  const inFront = THROTTLED_ROUTES.map((route) => throttle[route]);
  const usable = ({ requestsPerSecond, burst }: Throttle): boolean =>
    requestsPerSecond > 0 && Number.isInteger(burst) && burst > 0;
  if (![throttle, ...inFront].every(usable)) return ['throttle: requestsPerSecond and burst must be above 0'];
  const rest = (['requestsPerSecond', 'burst'] as const).filter(
    (key) => inFront.reduce((sum, each) => sum + each[key], 0) >= throttle[key],
  );
  return rest.map((key) => `throttle: ${THROTTLED_ROUTES.join(', ')} together must leave some ${key} of the total`);
}

function edgeProblems({ edge, keepData }: Settings): string[] {
  if (edge === undefined) return [];
  const problems: string[] = [];
  const { requestsPer5MinutesPerIp: requests, domain, key, page } = edge;
  if (requests !== undefined && !within(requests, REQUESTS_PER_IP)) {
    const { least, most } = REQUESTS_PER_IP;
    problems.push(`edge.requestsPer5MinutesPerIp: ${least} to ${most}; got ${requests}`);
  }
  if (!EDGE_KEY.test(key)) problems.push(`edge.key: key and a number, such as key1; got "${key}"`);
  if (domain !== undefined) problems.push(...domainProblems(domain));
  const { payUrl } = page;
  if (payUrl === undefined ? keepData : !(payUrl.startsWith('https://') && URL.canParse(payUrl))) {
    problems.push(`edge.page.payUrl: where buyers pay, https://…; got "${payUrl ?? ''}"`);
  }
  const contact = page.contactUrl;
  if (contact !== undefined && !(/^(https:\/\/|mailto:[^@\s]+@)/.test(contact) && URL.canParse(contact))) {
    problems.push(`edge.page.contactUrl: mailto:NAME@HOST or https://…; got "${contact}"`);
  }
  for (const origin of page.signInOrigins) {
    if (!/^https:\/\/[^/\s;,]+$/.test(origin)) {
      problems.push(`edge.page.signInOrigins: https://HOST and no path; got "${origin}"`);
    }
  }
  return problems;
}

function domainProblems({ name, certificateArn, zone }: NonNullable<EdgeSettings['domain']>): string[] {
  const problems: string[] = [];
  if (!HOST_NAME.test(name)) problems.push(`edge.domain.name: a host name, such as shop.example.com; got "${name}"`);
  if (certificateArn === undefined && zone === undefined) {
    problems.push('edge.domain: give its `zone` of Route 53, to create certificate and record; or a `certificateArn` in us-east-1');
  }
  if (certificateArn !== undefined && !/^arn:[^:]+:acm:us-east-1:/.test(certificateArn)) {
    problems.push(`edge.domain.certificateArn: must be in us-east-1, for CloudFront; got "${certificateArn}"`);
  }
  if (zone === undefined) return problems;
  if (!/^Z[A-Z0-9]{1,31}$/.test(zone.id)) problems.push(`edge.domain.zone.id: such as Z0123456789ABC; got "${zone.id}"`);
  if (name !== zone.name && !name.endsWith(`.${zone.name}`)) {
    problems.push(`edge.domain.zone.name: ${name} is not in "${zone.name}"`);
  }
  return problems;
}

/** Further requirements of a deployment to AWS. */
function deploymentProblems({ functionUpload, keepData, protectData, alarmEmail, parked, provisioned, releases, observability, emulator, edge }: Settings): string[] {
  const problems: string[] = [];
  const qualifier = functionUpload.kind === 'bootstrap' ? functionUpload.qualifier : undefined;
  if (qualifier !== undefined && !QUALIFIER.test(qualifier)) {
    problems.push(`functionUpload.qualifier: 1 to 10 of a-z and 0-9, as \`cdk bootstrap --qualifier\` takes it; got "${qualifier}"`);
  }
  if (keepData && emulator === undefined && alarmEmail === undefined) {
    problems.push('alarmEmail: required for production alarms; AWS asks the address to confirm');
  }
  if (protectData && !keepData) problems.push('protectData: needs keepData');
  if (parked && provisioned.length > 0) problems.push('provisioned: a parked deployment gets no crowd; use the profile prod');
  if (parked && releases === 'canary') problems.push('releases: a parked deployment has no requests to judge a canary by; leave it out');
  if (!parked && releases === 'canary' && observability === 'essential') {
    problems.push('releases: this profile lacks the alarms that judge a canary; use "at-once", or leave it out');
  }
  if (emulator !== undefined && (releases === 'canary' || edge !== undefined)) {
    problems.push('releases, edge: the emulator has neither CodeDeploy nor CloudFront');
  }
  return problems;
}

function identityProblems({ identity, requireTls }: Settings): string[] {
  if (identity.kind === 'cognito') return [];
  const problems: string[] = [];
  if (identity.issuer === '') {
    problems.push(
      'identity.issuer: give the OIDC issuer that signs your buyers in, https://…, or set identity to { kind: "cognito" }',
    );
  } else if (!URL.canParse(identity.issuer)) {
    problems.push(`identity.issuer: not a URL: "${identity.issuer}"`);
  } else if (requireTls && !identity.issuer.startsWith('https://')) {
    problems.push(`identity.issuer: must be https; got "${identity.issuer}"`);
  }
  if (identity.audience.length === 0 || identity.audience.some((part) => part === '')) {
    problems.push('identity.audience: give at least one value of `aud` in tokens; the first one is the page\'s client id');
  }
  return problems;
}

function redisProblems({ redis, requireTls, keepData, parked }: Settings): string[] {
  if (redis.kind === 'external') {
    return /^rediss?(\+cluster)?:\/\/[^/]+/.test(redis.url)
      ? []
      : [`redis.url: must be redis://HOST:PORT, or with rediss or +cluster; got "${redis.url}"`];
  }
  const problems: string[] = [];
  if (!/^cache\./.test(redis.nodeType))
    problems.push(`redis.nodeType: must be a cache.… type; got "${redis.nodeType}"`);
  if (!Number.isInteger(redis.replicas) || redis.replicas < 0 || redis.replicas > MAX_REPLICAS) {
    problems.push(`redis.replicas: 0 to ${MAX_REPLICAS}; got ${redis.replicas}`);
  }
  if (requireTls && !redis.tls) problems.push('redis.tls: must be on where requireTls is');
  if (keepData && !parked && redis.replicas < 1) problems.push('redis.replicas: at least 1 where keepData is on');
  if (redis.shards !== undefined && !within(redis.shards, { least: 1, most: MAX_SHARDS })) {
    problems.push(`redis.shards: 1 to ${MAX_SHARDS}; got ${redis.shards}`);
  }
  if (redis.authentication && !redis.tls) problems.push('redis.authentication: needs redis.tls');
  if (redis.durability !== 'disabled') {
    const durable = redis.shards !== undefined && redis.replicas > 0 && redis.tls && DURABLE_NODES.test(redis.nodeType);
    if (!durable) problems.push('redis.durability: needs shards, a replica, tls and nodes of r6g, m6g, c7gn or newer');
  }
  return problems;
}

function tableProblems({ table: { warmThroughput } }: Settings): string[] {
  if (warmThroughput === undefined) return [];
  const units = ['readUnitsPerSecond', 'writeUnitsPerSecond'] as const;
  return units
    .filter((unit) => !Number.isInteger(warmThroughput[unit]) || warmThroughput[unit] < COLD_TABLE[unit])
    .map((unit) => `table.warmThroughput.${unit}: at least ${COLD_TABLE[unit]}; got ${warmThroughput[unit]}`);
}

function provisionedProblems({ provisioned, emulator }: Settings): string[] {
  if (provisioned.length > 0 && emulator !== undefined) return ['provisioned: the emulator does not support this'];
  return provisioned.flatMap(({ from, to, count, timeZone }) => {
    const at = `provisioned ${from} to ${to}:`;
    const moments = MOMENT.test(from) && MOMENT.test(to);
    const problems: string[] = [];
    if (!moments && !(CRON.test(from) && CRON.test(to))) {
      problems.push(`${at} two times such as 2026-12-01T17:45:00Z, or two cron(…) of six parts`);
    }
    if (moments && !(Date.parse(from) < Date.parse(to))) problems.push(`${at} the end must come after the start`);
    if (moments && timeZone !== undefined) problems.push(`${at} timeZone is for cron(…); times are in UTC`);
    if (!within(count, PROVISIONED))
      problems.push(`${at} count: ${PROVISIONED.least} to ${PROVISIONED.most}; got ${count}`);
    return problems;
  });
}

function reservedProblems({ reservedConcurrency, orderConcurrency, provisioned, emulator }: Settings): string[] {
  if (reservedConcurrency === undefined) return [];
  const setting = 'reservedConcurrency';
  if (emulator !== undefined) return [`${setting}: the emulator does not support this`];
  const { account, functions } = reservedConcurrency;
  if (!Number.isInteger(account) || account < 1) return [`${setting}.account: a whole number above 0; got ${account}`];

  // The event source of a queue is limited to the same number, and has a minimum.
  const least = (name: string): [number, string] => {
    if (name === 'order') return [orderConcurrency, `orderConcurrency, ${orderConcurrency}`];
    if (name === 'warmup') return [REBUILD_PROCESSES + 1, `${REBUILD_PROCESSES} for its queue and one for its schedule`];
    const fed = QUEUE_FED.some((each) => each === name);
    return fed ? [CONCURRENCY.least, `${CONCURRENCY.least}, the minimum of an event source`] : [1, '1'];
  };
  const problems = Object.entries(functions).flatMap(([name, count]) => {
    const [bound, why] = least(name);
    return Number.isInteger(count) && count >= bound ? [] : [`${setting}.functions.${name}: at least ${why}; got ${count}`];
  });

  const reserved = Object.values(functions).reduce((sum, each) => sum + each, 0);
  // A window replaces the previous one.
  const waiting = IN_FRONT.length * Math.max(0, ...provisioned.map(({ count }) => count));
  const needed = reserved + LEAST_UNRESERVED + waiting;
  if (problems.length === 0 && needed > account) {
    problems.push(
      `${setting}: ${reserved} reserved + ${LEAST_UNRESERVED} that AWS keeps unreserved + ${waiting} provisioned = ${needed}, ` +
        `but the account has ${account}: ask AWS for more (\`./flash preflight\` says how) and say so in accountConcurrency, or reserve less`,
    );
  }
  return problems;
}
