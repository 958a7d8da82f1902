import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dev } from '../settings/dev.ts';
import { local } from '../settings/local.ts';
import { parked } from '../settings/parked.ts';
import { prod } from '../settings/prod.ts';
import { type EdgeSettings, refuse, type Settings, UsageError, validated } from './settings.ts';

/** The profiles: what each costs while idle, and what it gives up for that, is in `docs/deployment.md`. */
const PROFILES = { dev, prod, parked, local } as const;

/** The settings that a deployment's file decides by the same names. */
const COPIED = [
  'name', 'qualifier', 'logLevel', 'issuer', 'audience', 'operatorClaims', 'pictureHosts', 'giftUrl', 'webhookUrl', 'alarmEmail',
  'throttleBusySalesTo', 'provisioned', 'redisUrl', 'emulator',
] as const;

/**
 * One deployment: its owner's decisions, committed in `deployments/NAME.ts`. Everything else comes from its profile in
 * `settings/`. `./flash deploy NAME` reads it, so that nothing depends on command lines that the next person would forget.
 * `settings.ts` explains the fields that are the same there.
 */
export interface Deployment
  extends Partial<Pick<Settings, (typeof COPIED)[number]>>,
    Partial<Pick<EdgeSettings, 'domain' | 'letPast' | 'payUrl' | 'contactUrl' | 'signInOrigins'>> {
  profile: keyof typeof PROFILES;
  /** The region, such as eu-central-1. */
  region: string;
  /** The account it belongs to: nothing is deployed with credentials of any other. */
  account?: string;
  /** Redis shards: more than one for a sale with lanes, or for many sales at once. A parked deployment has one. */
  shards?: number;
  /** Lambda's limit of concurrent executions in the account. */
  accountConcurrency?: number;
  /**
   * `false` for no CloudFront, and so neither page nor firewall: for an account that AWS has not verified for it yet. Buyers then
   * use the gateway.
   */
  edge?: boolean;
  /** Which key CloudFront sends; `./flash rotate-edge-key` says when to change it. */
  edgeKey?: string;
  /** Whether CloudFront checks tickets of sales with a line; by default, the profile decides. */
  edgeLine?: boolean;
  /** In prod: `at-once` for a fix while an alarm rings, which would prevent a canary. */
  releases?: Release;
  /** Upcoming sales, for which `./flash preflight` checks the account's quotas. */
  sales?: PlannedSale[];
  /** How the smoke test signs in without Cognito: a command that prints a token. `{user}` is the user; `{role}` is `buyer` or `operator`. */
  smoke?: { tokenCommand: string };
}

const RELEASES = ['canary', 'at-once'] as const;

/** How functions that answer people are switched to a new version, where they have versions. */
export type Release = (typeof RELEASES)[number];

export interface PlannedSale {
  units: number;
  audience: number;
  /** With a UTC offset: 2026-12-24T18:00:00+01:00. */
  opensAt: string;
}

/** What a field must be: files are run without type checking. */
interface Kind {
  is: (value: unknown) => boolean;
  as: string;
}

const TEXT: Kind = { is: (value) => typeof value === 'string' && value !== '', as: 'a text' };
const TEXTS: Kind = { is: (value) => Array.isArray(value) && value.every(TEXT.is), as: 'a list of texts' };
const COUNT: Kind = { is: (value) => Number.isInteger(value) && (value as number) > 0, as: 'a whole number above 0' };
const YES_NO: Kind = { is: (value) => typeof value === 'boolean', as: 'true or false' };
const matching = (pattern: RegExp, as: string): Kind => ({ is: (value) => typeof value === 'string' && pattern.test(value), as });
const oneOf = (known: readonly string[]): Kind => ({ is: (value) => known.some((each) => each === value), as: `one of ${known.join(', ')}` });
const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const areRecords = (value: unknown): boolean => Array.isArray(value) && value.every(isRecord);

const FIELDS: Record<keyof Deployment, Kind> = {
  profile: oneOf(Object.keys(PROFILES)),
  region: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region, as eu-central-1'),
  account: matching(/^\d{12}$/, 'a string of twelve digits'),
  ...{ name: TEXT, qualifier: TEXT, emulator: TEXT, logLevel: TEXT, alarmEmail: TEXT, redisUrl: TEXT, edgeKey: TEXT },
  ...{ issuer: TEXT, payUrl: TEXT, contactUrl: TEXT, giftUrl: TEXT, webhookUrl: TEXT },
  ...{ audience: TEXTS, signInOrigins: TEXTS, operatorClaims: TEXTS, pictureHosts: TEXTS },
  ...{ throttleBusySalesTo: COUNT, shards: COUNT, accountConcurrency: COUNT },
  ...{ edge: YES_NO, letPast: YES_NO, edgeLine: YES_NO },
  releases: oneOf(RELEASES),
  domain: { is: isRecord, as: '{ name, zone: { id, name } } or { name, certificateArn }' },
  provisioned: { is: areRecords, as: 'a list of { from, to, count }' },
  sales: {
    is: (value) =>
      areRecords(value) && (value as PlannedSale[]).every((sale) => COUNT.is(sale.units) && COUNT.is(sale.audience) && !Number.isNaN(Date.parse(sale.opensAt))),
    as: 'a list of { units, audience, opensAt }',
  },
  smoke: { is: (value) => isRecord(value) && TEXT.is((value as { tokenCommand?: unknown }).tokenCommand), as: '{ tokenCommand }' },
};

/** Returns a deployment file's export, or throws one error that names every problem. */
export function checked(name: string, exported: unknown): Deployment {
  if (!isRecord(exported)) refuse(fileOf(name), ['it must `export default { profile: …, region: … } satisfies Deployment`']);
  const given = exported as Record<string, unknown>;
  const problems = Object.entries(given).flatMap(([field, value]) => {
    if (!Object.hasOwn(FIELDS, field)) return [`${field}: there is no such field${nearest(field)}`];
    const { is, as } = FIELDS[field as keyof Deployment];
    return value === undefined || is(value) ? [] : [`${field}: ${as}; got ${JSON.stringify(value)}`];
  });
  for (const field of ['profile', 'region'] as const) {
    if (given[field] === undefined) problems.push(`${field}: is missing; it is ${FIELDS[field].as}`);
  }
  refuse(fileOf(name), problems);
  return given as unknown as Deployment;
}

const fileOf = (name: string): string => `infra/cdk/deployments/${name}.ts is`;

/** The field that a mistyped one may have been meant to be. */
function nearest(field: string): string {
  const like = Object.keys(FIELDS).find((known) => known.toLowerCase() === field.toLowerCase() || known.startsWith(field.slice(0, 5)));
  return like === undefined ? '' : `; did you mean ${like}?`;
}

/** The circumstances of a deployment that are not in its file. */
export interface Occasion {
  /** There is no stack yet. */
  first?: boolean;
  /** Overrides the file's. */
  releases?: Release;
}

/** The settings of a deployment: its profile with its owner's decisions. */
export function settingsOf(name: string, deployment: Deployment, { first = false, releases }: Occasion = {}): Settings {
  const base: Settings = PROFILES[deployment.profile];
  const settings: Settings = { ...base };
  if (deployment.edge === false) {
    const idle = (['domain', 'edgeKey', 'letPast', 'edgeLine'] as const).filter((field) => deployment[field] !== undefined);
    if (idle.length > 0) refuse(fileOf(name), [`edge: required for ${idle.join(', ')}`]);
  }
  if (deployment.emulator !== undefined && deployment.profile !== 'local') refuse(fileOf(name), ['emulator: only in the profile local']);
  for (const field of [...COPIED, 'releases'] as const) {
    if (deployment[field] !== undefined) Object.assign(settings, { [field]: deployment[field] });
  }
  if (releases !== undefined && settings.releases === 'canary') settings.releases = releases;
  // A failed first deployment must be able to delete what it has created.
  if (first) settings.first = true;
  if (deployment.shards !== undefined && !base.parked) settings.redis = { ...base.redis, shards: deployment.shards };
  if (deployment.accountConcurrency !== undefined && base.reservedConcurrency !== undefined) {
    settings.reservedConcurrency = { ...base.reservedConcurrency, account: deployment.accountConcurrency };
  }
  if (deployment.edge === false) delete settings.edge;
  else if (base.edge !== undefined) {
    const { domain, edgeKey: key, edgeLine: line, letPast, payUrl, contactUrl, signInOrigins } = deployment;
    settings.edge = { ...base.edge, ...defined({ domain, key, line, letPast, payUrl, contactUrl, signInOrigins }) };
  }
  return validated(settings, fileOf(name));
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const FOLDER = fileURLToPath(new URL('../deployments', import.meta.url));
/** The settings of the system that `make up` runs. */
const RUNNING = fileURLToPath(new URL('../../../target/local/up.env', import.meta.url));

/** The deployment with this name: its file's export, checked. `running` is the file with the settings of a running emulator. */
export async function deploymentNamed(name: string | undefined, folder = FOLDER, running = RUNNING): Promise<Deployment> {
  if (name === undefined || !/^[a-z][a-z0-9-]*$/.test(name)) {
    const there = readdirSync(folder).map((file) => basename(file, '.ts')).filter((each) => each !== 'example');
    throw new UsageError(`Which deployment? One of ${there.join(', ')}; got "${name ?? ''}"`);
  }
  const file = join(folder, `${name}.ts`);
  const isTemplate = name === 'example';
  if (isTemplate || !existsSync(file)) {
    const problem = isTemplate ? 'infra/cdk/deployments/example.ts is a template' : `There is no infra/cdk/deployments/${name}.ts`;
    const copy = `cp infra/cdk/deployments/example.ts infra/cdk/deployments/${isTemplate ? 'prod' : name}.ts`;
    throw new UsageError(`${problem}. Copy the template, put in your values and commit it:\n  ${copy}`);
  }
  const deployment = checked(name, (await import(pathToFileURL(file).href)).default);
  if (deployment.profile === 'local' && deployment.emulator === undefined) {
    const load = 'load its settings with `. target/local/up.env`';
    throw new UsageError(existsSync(running) ? `To reach the running system, ${load}` : `No system is running: start one with \`make up\`, then ${load}`);
  }
  return deployment;
}
