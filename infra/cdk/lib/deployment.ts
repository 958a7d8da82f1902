import { dev } from '../settings/dev.ts';
import { local } from '../settings/local.ts';
import { parked } from '../settings/parked.ts';
import { prod } from '../settings/prod.ts';
import { type HostedZone, type ProvisionedWindow, type Settings, SettingsError, UsageError, validated } from './settings.ts';

/** What a deployment costs while nobody comes, and what it gives up for that: `docs/deployment.md`. */
export const PROFILES = { dev, prod, parked, local } as const;

export type Profile = keyof typeof PROFILES;

/**
 * One deployment: what its owner decides, in `deployments/NAME.ts`, committed. Everything else comes from its profile in
 * `settings/`. `make deploy ENV=NAME` reads it, and nothing is given on the command line that the next person would forget.
 */
export interface Deployment {
  profile: Profile;
  /** Where it runs, as eu-central-1. */
  region: string;
  /** The account that it belongs to: with any other account's credentials nothing is deployed. */
  account?: string;
  /** Prefix of every name, for a second deployment in one account. */
  name?: string;
  /** Of `cdk bootstrap --qualifier`, if the account has its own. */
  qualifier?: string;
  /** The OpenID Connect issuer of buyers and operators. Without it, in dev, a Cognito user pool is made. */
  issuer?: string;
  /** What tokens have in `aud`. The first is the page's client id. */
  audience?: string[];
  /** Besides the issuer's own: where the page asks for tokens, if that is another host. */
  signInOrigins?: string[];
  /** The claims that make an operator. */
  operatorClaims?: string[];
  /** Where buyers pay. */
  payUrl?: string;
  /** Where buyers reach a person: `mailto:…` or `https://…`. */
  contactUrl?: string;
  /** The gift service that is told of winners. */
  giftUrl?: string;
  /** Where every event is sent. */
  webhookUrl?: string;
  /** Hosts of pictures besides the page's own. */
  pictureHosts?: string[];
  /** Requests a second that a sale is limited to once it is hot. */
  isolateHotSalesTo?: number;
  /** Who hears the alarms. Required in prod. */
  alarmEmail?: string;
  /** The shop's name, with its zone of Route 53 or its certificate in us-east-1. */
  domain?: { name: string; certificateArn?: string; zone?: HostedZone };
  /** Functions that wait for a crowd. */
  provisioned?: ProvisionedWindow[];
  /** A Redis of your own in the place of ElastiCache. */
  redisUrl?: string;
  /** Of Redis: more than one for a sale that uses lanes, or for many sales at once. While it is parked there is one. */
  shards?: number;
  /** Concurrent executions that Lambda gives the account. */
  accountConcurrency?: number;
  /**
   * `false` for no CloudFront, and so no page and no firewall: for an account for which AWS has not allowed it yet (a new one has to be
   * verified). Buyers then go to the gateway.
   */
  edge?: boolean;
  /** Which key CloudFront sends; `make rotate-edge-key` says when to change it. */
  edgeKey?: string;
  /** Answers requests that came past the edge, for the deployment that puts an edge in front of a running shop. */
  letPast?: boolean;
  /** Whether CloudFront checks tickets of sales with a line; the profile says if this does not. */
  edgeLine?: boolean;
  /** Of prod: `at-once` for a mend while an alarm rings, which a canary would not begin. */
  releases?: Release;
  logLevel?: Settings['logLevel'];
  /** Sales to come, which `make preflight` holds the account's quotas to. */
  sales?: PlannedSale[];
  smoke?: SmokeSettings;
  /** Of the profile local: the emulator's address. */
  emulator?: string;
}

/** How functions that answer people go over to a new version, where they have versions. */
export type Release = (typeof RELEASES)[number];

const RELEASES = ['canary', 'at-once'] as const;

export interface PlannedSale {
  units: number;
  audience: number;
  /** With its zone: 2026-12-24T18:00:00+01:00. */
  opensAt: string;
}

/** How the smoke test signs in, where that is not Cognito. */
export interface SmokeSettings {
  /** A command that prints a token: `{user}` is who, `{role}` is `buyer` or `operator`. */
  tokenCommand: string;
}

type Check = (value: unknown) => boolean;
const text: Check = (value) => typeof value === 'string' && value !== '';
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const whole: Check = (value) => Number.isInteger(value) && (value as number) > 0;
const yesNo: Check = (value) => typeof value === 'boolean';
const record: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const records: Check = (value) => Array.isArray(value) && value.every(record);

/** What each field must be: a file is run without its types being checked. */
const FIELDS: Record<keyof Deployment, { is: Check; as: string }> = {
  profile: { is: (value) => text(value) && Object.hasOwn(PROFILES, value as string), as: `one of ${Object.keys(PROFILES).join(', ')}` },
  region: { is: (value) => text(value) && REGION.test(value as string), as: 'a region, as eu-central-1' },
  account: { is: (value) => text(value) && /^\d{12}$/.test(value as string), as: 'twelve digits, as a text' },
  name: { is: text, as: 'a text' },
  qualifier: { is: text, as: 'a text' },
  issuer: { is: text, as: 'a text' },
  audience: { is: texts, as: 'a list of texts' },
  signInOrigins: { is: texts, as: 'a list of texts' },
  operatorClaims: { is: texts, as: 'a list of texts' },
  payUrl: { is: text, as: 'a text' },
  contactUrl: { is: text, as: 'a text' },
  giftUrl: { is: text, as: 'a text' },
  webhookUrl: { is: text, as: 'a text' },
  pictureHosts: { is: texts, as: 'a list of texts' },
  isolateHotSalesTo: { is: whole, as: 'a whole number above 0' },
  alarmEmail: { is: text, as: 'a text' },
  domain: { is: record, as: '{ name, zone: { id, name } } or { name, certificateArn }' },
  provisioned: { is: records, as: 'a list of { from, to, count }' },
  redisUrl: { is: text, as: 'a text' },
  shards: { is: whole, as: 'a whole number above 0' },
  accountConcurrency: { is: whole, as: 'a whole number above 0' },
  edge: { is: yesNo, as: 'true or false' },
  edgeKey: { is: text, as: 'a text' },
  letPast: { is: yesNo, as: 'true or false' },
  edgeLine: { is: yesNo, as: 'true or false' },
  releases: { is: (value) => RELEASES.some((each) => each === value), as: `one of ${RELEASES.join(', ')}` },
  logLevel: { is: text, as: 'a text' },
  sales: {
    is: (value) =>
      records(value) && (value as PlannedSale[]).every((sale) => whole(sale.units) && whole(sale.audience) && !Number.isNaN(Date.parse(sale.opensAt))),
    as: 'a list of { units, audience, opensAt }',
  },
  smoke: { is: (value) => record(value) && text((value as SmokeSettings).tokenCommand), as: '{ tokenCommand }' },
  emulator: { is: text, as: 'a text' },
};
const REGION = /^[a-z]{2}(-[a-z]+)+-\d$/;
const REQUIRED = ['profile', 'region'] as const;

/** Returns what the file of a deployment exports, or throws one error that names every problem. */
export function checked(name: string, exported: unknown): Deployment {
  if (!record(exported)) throw new DeploymentError(name, ['it must `export default { profile: …, region: … } satisfies Deployment`']);
  const given = exported as Record<string, unknown>;
  const problems = Object.entries(given).flatMap(([field, value]) => {
    const known = FIELDS[field as keyof Deployment];
    if (known === undefined) return [`${field}: there is no such field${nearest(field)}`];
    return value === undefined || known.is(value) ? [] : [`${field}: ${known.as}; got ${JSON.stringify(value)}`];
  });
  for (const field of REQUIRED) {
    if (given[field] === undefined) problems.push(`${field}: is missing; it is ${FIELDS[field].as}`);
  }
  if (problems.length > 0) throw new DeploymentError(name, problems);
  return given as unknown as Deployment;
}

export class DeploymentError extends UsageError {
  constructor(name: string, problems: string[]) {
    super(`infra/cdk/deployments/${name}.ts is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** A field that a mistyped one may have been meant to be. */
function nearest(field: string): string {
  const like = Object.keys(FIELDS).find((known) => known.toLowerCase() === field.toLowerCase() || known.startsWith(field.slice(0, 5)));
  return like === undefined ? '' : `; did you mean ${like}?`;
}

/** Where a setting is decided, so that a problem is mended in the right place. */
const DECIDED_IN: [RegExp, string][] = [
  [/^edge\.page\.(payUrl|contactUrl|signInOrigins)/, '$1'],
  [/^edge\.(domain)/, '$1'],
  [/^edge\.key/, 'edgeKey'],
  [/^identity\.(issuer|audience)/, '$1'],
  [/^winners\.url/, 'giftUrl'],
  [/^webhook\.url/, 'webhookUrl'],
  [/^functionUpload\.(qualifier)/, '$1'],
  [/^redis\.(shards)/, '$1'],
  [/^redis\.url/, 'redisUrl'],
];

/** What only an edge has, of the fields. */
const OF_THE_EDGE = ['domain', 'edgeKey', 'letPast', 'edgeLine'] as const;

/** Of one deployment, beside what its file says. */
export interface Occasion {
  /** There is no stack yet. */
  first?: boolean;
  /** In the place of the file's. */
  releases?: Release;
}

/** The settings of a deployment: its profile, with what its owner decided. Throws with the names that the file has. */
export function settingsOf(name: string, deployment: Deployment, { first = false, releases }: Occasion = {}): Settings {
  const { profile, issuer, audience, domain, edgeKey, edgeLine, letPast } = deployment;
  const base: Settings = PROFILES[profile];
  const settings: Settings = { ...base };
  if (deployment.edge === false) {
    const idle = OF_THE_EDGE.filter((field) => deployment[field] !== undefined);
    if (idle.length > 0) throw new DeploymentError(name, [`edge: without one there is no ${idle.join(', ')}`]);
  }
  const copied = ['name', 'operatorClaims', 'pictureHosts', 'alarmEmail', 'isolateHotSalesTo', 'provisioned', 'releases', 'logLevel'] as const;
  for (const field of copied) {
    if (deployment[field] !== undefined) Object.assign(settings, { [field]: deployment[field] });
  }
  if (releases !== undefined && settings.releases === 'canary') settings.releases = releases;
  // A first deployment that fails must be able to take away what it has made.
  if (first) settings.protectData = false;
  if (deployment.qualifier !== undefined) settings.functionUpload = { kind: 'bootstrap', qualifier: deployment.qualifier };
  if (issuer !== undefined || audience !== undefined) {
    settings.identity = { kind: 'oidc', issuer: issuer ?? '', audience: audience ?? [] };
  }
  if (deployment.giftUrl !== undefined) settings.winners = { ...base.winners, url: deployment.giftUrl };
  if (deployment.webhookUrl !== undefined) settings.webhook = { url: deployment.webhookUrl };
  if (deployment.redisUrl !== undefined) settings.redis = { kind: 'external', url: deployment.redisUrl };
  else if (deployment.shards !== undefined && base.redis.kind === 'elasticache' && !base.parked) {
    settings.redis = { ...base.redis, shards: deployment.shards };
  }
  if (deployment.accountConcurrency !== undefined && base.reservedConcurrency !== undefined) {
    settings.reservedConcurrency = { ...base.reservedConcurrency, account: deployment.accountConcurrency };
  }
  if (deployment.emulator !== undefined || profile === 'local') settings.emulator = deployment.emulator ?? '';
  if (deployment.edge === false) delete settings.edge;
  else if (base.edge !== undefined) {
    const { payUrl, contactUrl, signInOrigins } = deployment;
    const page = { ...base.edge.page, ...defined({ payUrl, contactUrl, signInOrigins }) };
    settings.edge = { ...base.edge, ...defined({ domain, key: edgeKey, letPast, line: edgeLine }), page };
  }
  try {
    return validated(settings);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const problems = error.problems.map((problem) =>
      DECIDED_IN.reduce((said, [setting, field]) => said.replace(setting, field), problem),
    );
    throw new DeploymentError(name, problems);
  }
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
