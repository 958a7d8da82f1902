import { GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { GetFunctionConcurrencyCommand, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import type { ProvisionedWindow } from '../lib/settings.ts';
import type { Aws } from './aws.ts';

// Templates have no useful types once they are JSON.
type Json = any;

export interface Template {
  Resources: Record<string, { Type: string; Properties?: Json; DeletionPolicy?: string }>;
}

/**
 * What a deployment would remove that somebody put there on purpose: scheduled capacity, receivers of alarms, data, users,
 * the edge, the stock. One sentence each.
 */
export function removals(deployed: Template, coming: Template, now = Date.now()): string[] {
  return [
    ...capacity(deployed, coming, now),
    ...receivers(deployed, coming),
    ...data(deployed, coming),
    ...edge(deployed, coming),
    ...(changesRedis(deployed, coming)
      ? ['Redis, which is replaced: open rounds are loaded again from the ledger, and sell nothing meanwhile. Do this when none is open']
      : []),
  ];
}

function of(template: Template, type: string): [string, Json][] {
  return Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => [id, resource.Properties ?? {}]);
}

/** A scheduled window in a template, in the terms of Application Auto Scaling. */
type Window = Omit<ProvisionedWindow, 'to'> & { to: string | undefined };

const same = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The windows of each target, in order: `From0` and `To0` are the ends of the first one. */
function windows(template: Template): Map<string, Window[]> {
  const targets = of(template, 'AWS::ApplicationAutoScaling::ScalableTarget');
  return new Map(
    targets.map(([id, { ScheduledActions = [] }]): [string, Window[]] => {
      const named = new Map<string, Json>(ScheduledActions.map((action: Json) => [action.ScheduledActionName, action]));
      const beginnings = ScheduledActions.filter((action: Json) => action.ScalableTargetAction.MinCapacity > 0);
      const all = beginnings.map(({ ScheduledActionName: name, Schedule: from, Timezone: timeZone, ScalableTargetAction: { MinCapacity: count } }: Json) => {
        const to = named.get(String(name).replace(/^From/, 'To'))?.Schedule;
        return { from, to, timeZone, count };
      });
      return [id, all];
    }),
  );
}

/** Whether a deployment leaves deployed windows alone: AWS replaces all windows of a target if one changes. */
export function keepsWindows(deployed: Template, provisioned: ProvisionedWindow[]): boolean {
  const schedule = (when: string): string => (when.startsWith('cron(') ? when : `at(${when.replace(/Z$/, '')})`);
  const wanted = provisioned.map(({ from, to, timeZone, count }): Window => ({ from: schedule(from), to: schedule(to), timeZone, count }));
  const all = [...windows(deployed).values()];
  return all.length > 0 && all.every((each) => same(each, wanted));
}

/** The time of a schedule in UTC, in ms; `undefined` for a recurring one. */
function momentOf(schedule: string | undefined): number | undefined {
  const [, moment] = schedule?.match(/^at\((\S+?)Z?\)$/) ?? [];
  return moment === undefined ? undefined : Date.parse(`${moment}Z`);
}

function capacity(deployed: Template, coming: Template, now: number): string[] {
  const kept = windows(coming);
  return [...windows(deployed)].flatMap(([id, all]) => {
    const gone = all.filter((window) => !kept.get(id)?.some((other) => same(window, other)));
    // Leaving out a window that is over removes nothing.
    const missed = gone.filter(({ from, to }) => !((momentOf(to) ?? momentOf(from) ?? Infinity) <= now));
    return missed.map(({ from, to, timeZone, count }) => {
      const isOn = (momentOf(from) ?? Infinity) <= now ? ', which is active now' : '';
      return `scheduled capacity: ${count} processes of ${id.replace(/(Function|Alias).*$/, '')}, ${from} to ${to ?? 'no end'}${timeZone === undefined ? '' : ` in ${timeZone}`}${isOn}`;
    });
  });
}

function receivers(deployed: Template, coming: Template): string[] {
  const ends = (template: Template) => of(template, 'AWS::SNS::Subscription').map(([, { Protocol, Endpoint }]) => `${Protocol} ${JSON.stringify(Endpoint)}`);
  const kept = new Set(ends(coming));
  return ends(deployed).filter((each) => !kept.has(each)).map((each) => `a receiver of alarms: ${each.replaceAll('"', '')}`);
}

/** Kill switches, sales and orders are in the table; users are in a pool. */
function data(deployed: Template, coming: Template): string[] {
  const gone = (type: string): string[] => of(deployed, type).map(([id]) => id).filter((id) => coming.Resources[id]?.Type !== type);
  const tables = of(deployed, 'AWS::DynamoDB::Table').map(([id]) => id);
  const loosened = tables.filter((id) => isKept(deployed, id) && coming.Resources[id] !== undefined && !isKept(coming, id));
  return [
    ...gone('AWS::DynamoDB::Table').map((id) => `the table ${id}, with every sale, order and kill switch in it`),
    ...loosened.map((id) => `the protection of the table ${id}: it would be deleted with the stack`),
    ...gone('AWS::Cognito::UserPool').map((id) => `the user pool ${id}, with all of its users`),
  ];
}

function isKept({ Resources }: Template, id: string): boolean {
  return /^Retain/.test(Resources[id]?.DeletionPolicy ?? '');
}

function edge(deployed: Template, coming: Template): string[] {
  const distributions = (template: Template) => of(template, 'AWS::CloudFront::Distribution').map(([, { DistributionConfig }]) => DistributionConfig);
  const [before, after] = [distributions(deployed), distributions(coming)];
  const hasFirewall = (all: Json[]): boolean => all.some(({ WebACLId }) => WebACLId !== undefined);
  return [
    ...(before.length > after.length ? ["the shop's address at CloudFront, and the page"] : []),
    ...(hasFirewall(before) && !hasFirewall(after) ? ['the firewall in front of the shop'] : []),
  ];
}

/**
 * Whether functions would sell from another Redis than now: one at another address, or a cluster that is replaced, as when its
 * durable log is turned on or off.
 */
export function changesRedis(deployed: Template, coming: Template): boolean {
  const addresses = (template: Template) => {
    const known = of(template, 'AWS::Lambda::Function').map(([, { Environment }]) => JSON.stringify(Environment?.Variables?.REDIS_URL));
    return [...new Set(known)].filter((each) => each !== undefined).sort();
  };
  const clusters = (template: Template) => of(template, 'AWS::ElastiCache::ReplicationGroup').map(([id, { Durability }]) => [id, Durability ?? 'disabled']);
  return !same(addresses(deployed), addresses(coming)) || !same(clusters(deployed), clusters(coming));
}

/** The deployed template of a stack, or nothing if there is no such stack. */
export async function deployedTemplate({ cloudFormation }: Aws, stack: string): Promise<Template | undefined> {
  try {
    const { TemplateBody } = await cloudFormation.send(new GetTemplateCommand({ StackName: stack, TemplateStage: 'Original' }));
    return TemplateBody === undefined ? undefined : JSON.parse(TemplateBody);
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return undefined;
    throw error;
  }
}

/** What was stopped by hand among what a template has running. One sentence each. */
export async function stoppedByHand({ lambda }: Aws, deployed: Template): Promise<string[]> {
  const named = of(deployed, 'AWS::Lambda::Function').filter(([, { FunctionName }]) => typeof FunctionName === 'string');
  const stops: string[] = [];
  for (const [id, { FunctionName }] of named) {
    const isFed = of(deployed, 'AWS::Lambda::EventSourceMapping').some(([, source]) => source.FunctionName?.Ref === id && source.Enabled !== false);
    try {
      const [concurrency, fed] = await Promise.all([
        lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })),
        isFed ? lambda.send(new ListEventSourceMappingsCommand({ FunctionName })) : undefined,
      ]);
      if (concurrency.ReservedConcurrentExecutions === 0) {
        stops.push(`a stop: the function ${FunctionName} was stopped by hand (0 concurrent executions), and may start again`);
      }
      if (fed?.EventSourceMappings?.some(({ State }) => State === 'Disabled' || State === 'Disabling')) {
        stops.push(`a stop: the source of ${FunctionName} was turned off by hand, and may be turned on again`);
      }
    } catch (error) {
      // It was never created, or somebody has deleted it.
      if ((error as Error).name !== 'ResourceNotFoundException') throw error;
    }
  }
  return stops;
}
