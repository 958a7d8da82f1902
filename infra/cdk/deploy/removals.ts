import { GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { GetFunctionConcurrencyCommand, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import type { Aws } from './aws.ts';

// Templates have no useful types once they are JSON.
type Json = any;

export interface Template {
  Resources: Record<string, { Type: string; Properties?: Json; DeletionPolicy?: string }>;
}

/** What was stopped by hand, by name. */
export interface Stopped {
  functions: string[];
  sources: string[];
}

/**
 * What a deployment would take away that somebody put there on purpose: scheduled capacity, who hears the alarms, a stop, data,
 * the firewall, the cluster. Each in a sentence.
 */
export function removals(deployed: Template, coming: Template, stopped: Stopped): string[] {
  return [
    ...capacity(deployed, coming),
    ...receivers(deployed, coming),
    ...stops(stopped),
    ...data(deployed, coming),
    ...firewall(deployed, coming),
    ...cluster(deployed, coming),
  ];
}

function of(template: Template, type: string): [string, Json][] {
  return Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => [id, resource.Properties ?? {}]);
}

/** The end of a window sets the number back to none, so what counts are its beginnings. */
function windows(template: Template): Map<string, string> {
  const scaled = of(template, 'AWS::ApplicationAutoScaling::ScalableTarget');
  const actions = scaled.flatMap(([id, { ScheduledActions = [] }]) => ScheduledActions.map((action: Json) => [id, action] as const));
  return new Map(
    actions
      .filter(([, action]) => action.ScalableTargetAction.MinCapacity > 0)
      .map(([id, { Schedule, Timezone, ScalableTargetAction: { MinCapacity } }]) => [
        `${id} ${Schedule} ${Timezone ?? ''} ${MinCapacity}`,
        `${MinCapacity} processes of ${functionOf(id)}, ${Schedule}${Timezone === undefined ? '' : ` in ${Timezone}`}`,
      ]),
  );
}

function functionOf(id: string): string {
  return id.replace(/Function.*$/, '').replace(/Alias.*$/, '');
}

/** A window whose beginning is over is not taken away by leaving it out. */
function isOver(window: string, now = Date.now()): boolean {
  const [, moment] = window.match(/at\((\S+?)Z?\)/) ?? [];
  return moment !== undefined && Date.parse(`${moment}Z`) < now;
}

function capacity(deployed: Template, coming: Template): string[] {
  const kept = windows(coming);
  const gone = [...windows(deployed)].filter(([key]) => !kept.has(key)).map(([, said]) => said);
  return gone.filter((said) => !isOver(said)).map((said) => `scheduled capacity: ${said}`);
}

function receivers(deployed: Template, coming: Template): string[] {
  const ends = (template: Template) => of(template, 'AWS::SNS::Subscription').map(([, { Protocol, Endpoint }]) => `${Protocol} ${JSON.stringify(Endpoint)}`);
  const kept = new Set(ends(coming));
  return ends(deployed).filter((each) => !kept.has(each)).map((each) => `a receiver of alarms: ${each.replaceAll('"', '')}`);
}

function stops({ functions, sources }: Stopped): string[] {
  return [
    ...functions.map((name) => `a stop: the function ${name} was stopped by hand (0 executions at once), and may run again`),
    ...sources.map((name) => `a stop: what feeds ${name} was turned off by hand, and may be turned on again`),
  ];
}

/** Stops of sales, sales and orders are in the table. */
function data(deployed: Template, coming: Template): string[] {
  const tables = of(deployed, 'AWS::DynamoDB::Table').map(([id]) => id);
  const gone = tables.filter((id) => coming.Resources[id] === undefined).map((id) => `the table ${id}, with every sale, order and stop in it`);
  const loosened = tables.filter((id) => isKept(deployed, id) && coming.Resources[id] !== undefined && !isKept(coming, id));
  return [...gone, ...loosened.map((id) => `the protection of the table ${id}: it would go with the stack`)];
}

function isKept({ Resources }: Template, id: string): boolean {
  return /^Retain/.test(Resources[id]?.DeletionPolicy ?? '');
}

function firewall(deployed: Template, coming: Template): string[] {
  const has = (template: Template) => of(template, 'AWS::CloudFront::Distribution').some(([, { DistributionConfig }]) => DistributionConfig.WebACLId !== undefined);
  return has(deployed) && !has(coming) ? ['the firewall in front of the shop'] : [];
}

/** Going from or to a durable log makes another cluster. */
function cluster(deployed: Template, coming: Template): string[] {
  const durability = (template: Template) => of(template, 'AWS::ElastiCache::ReplicationGroup').map(([, { Durability }]) => Durability ?? 'disabled');
  const [before, after] = [durability(deployed)[0], durability(coming)[0]];
  if (before === undefined || before === after) return [];
  return ['Redis, which is made anew: rounds that are open are loaded again from the ledger, and sell nothing meanwhile. Do this when none is open'];
}

/** The template of a stack as it is deployed, or nothing if there is no such stack. */
export async function deployedTemplate({ cloudFormation }: Aws, stack: string): Promise<Template | undefined> {
  try {
    const { TemplateBody } = await cloudFormation.send(new GetTemplateCommand({ StackName: stack, TemplateStage: 'Original' }));
    return TemplateBody === undefined ? undefined : JSON.parse(TemplateBody);
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return undefined;
    throw error;
  }
}

/** What was stopped by hand of what a template has running. */
export async function stoppedByHand({ lambda }: Aws, deployed: Template): Promise<Stopped> {
  const named = of(deployed, 'AWS::Lambda::Function').filter(([, { FunctionName }]) => typeof FunctionName === 'string');
  const functions: string[] = [];
  const sources: string[] = [];
  for (const [id, { FunctionName }] of named) {
    const fed = of(deployed, 'AWS::Lambda::EventSourceMapping').filter(([, source]) => source.FunctionName?.Ref === id && source.Enabled !== false);
    const asked = [
      lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })).then(({ ReservedConcurrentExecutions }) => {
        if (ReservedConcurrentExecutions === 0) functions.push(FunctionName);
      }),
    ];
    if (fed.length > 0) {
      asked.push(
        lambda.send(new ListEventSourceMappingsCommand({ FunctionName })).then(({ EventSourceMappings = [] }) => {
          if (EventSourceMappings.some(({ State }) => State === 'Disabled' || State === 'Disabling')) sources.push(FunctionName);
        }),
      );
    }
    try {
      await Promise.all(asked);
    } catch (error) {
      // It was never made, or somebody has deleted it.
      if ((error as Error).name !== 'ResourceNotFoundException') throw error;
    }
  }
  return { functions, sources };
}
