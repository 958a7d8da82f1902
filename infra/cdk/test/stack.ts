import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { inject } from 'vitest';
import { DEPLOYMENTS, fakeFunctionsIn, fakePagesIn } from '../bin/examples.ts';
import { settingsOf } from '../lib/deployment.ts';
import { FUNCTION_NAMES, type FunctionName } from '../lib/functions.ts';
import { EdgeStack } from '../lib/edge-stack.ts';
import { FLAGS } from '../lib/cdk.ts';
import { FlashSaleStack } from '../lib/flash-sale-stack.ts';
import type { Architecture, Settings } from '../lib/settings.ts';
import { local } from '../settings/local.ts';

export const workplace = inject('workplace');

/** The settings of real deployments. */
export const DEPLOYED: Record<'local' | 'dev' | 'prod' | 'parked', Settings> = {
  local: { ...local, issuer: 'http://127.0.0.1:4566/identity', audience: ['shop'], emulator: 'http://127.0.0.1:4566' },
  dev: settingsOf('dev', DEPLOYMENTS.dev),
  prod: { ...settingsOf('prod', { ...DEPLOYMENTS.prod, provisioned: [] }), webhookUrl: undefined },
  parked: settingsOf('parked', DEPLOYMENTS.parked),
};

/** A folder of fake built functions. */
export function fakeFunctions(names: readonly FunctionName[] = FUNCTION_NAMES, architecture: Architecture = 'arm64'): string {
  const root = mkdtempSync(join(workplace, 'functions-'));
  fakeFunctionsIn(root, architecture, names);
  return root;
}

/** A folder of fake built pages. */
export function fakePages(): string {
  const root = mkdtempSync(join(workplace, 'pages-'));
  fakePagesIn(root);
  return root;
}

export function newApp(): App {
  return new App({ context: FLAGS, outdir: mkdtempSync(join(workplace, 'out-')) });
}

/** The template of these settings, through a file: most tests use the same settings, and a synthesis takes seconds. */
export function synthesized(settings: Settings): Template {
  const file = join(workplace, `template-${createHash('sha256').update(JSON.stringify(settings)).digest('hex')}.json`);
  if (existsSync(file)) return Template.fromJSON(JSON.parse(readFileSync(file, 'utf8')));
  const made = synthesizedIn(newApp(), settings);
  // Complete as soon as it has its name.
  const written = `${file}.${process.pid}`;
  writeFileSync(written, JSON.stringify(made.toJSON()));
  renameSync(written, file);
  return made;
}

export function synthesizedIn(
  app: App,
  settings: Settings,
  assetRoot = fakeFunctions(FUNCTION_NAMES, settings.architecture),
  pages = fakePages(),
): Template {
  return Template.fromStack(new FlashSaleStack(app, 'FlashSale', { settings, assetRoot, pages }));
}

export function synthesizedEdge(settings: Settings): Template {
  if (settings.edge === undefined) throw new Error('These settings have no edge');
  return Template.fromStack(new EdgeStack(newApp(), 'FlashSaleEdge', { settings, edge: settings.edge }));
}

// CloudFormation has no useful types once it is JSON.
export type Json = any;

export interface Resource {
  id: string;
  type: string;
  properties: Json;
  dependsOn: string[];
  deletion: string | undefined;
}

export function resources(template: Template, type?: string): Resource[] {
  const all: Record<string, Json> = template.toJSON().Resources;
  return Object.entries(all)
    .map(([id, resource]) => ({
      id,
      type: resource.Type,
      properties: resource.Properties ?? {},
      dependsOn: [resource.DependsOn ?? []].flat(),
      deletion: resource.DeletionPolicy,
    }))
    .filter((resource) => type === undefined || resource.type === type);
}

/** The only resource of a type, or of those that fit. */
export function only(template: Template, type: string, fits: (properties: Json) => boolean = () => true): Resource {
  const [found, ...others] = resources(template, type).filter(({ properties }) => fits(properties));
  if (found === undefined || others.length > 0) throw new Error(`expected one ${type} with ${fits}, found ${found ? 1 + others.length : 0}`);
  return found;
}

/** Secrets have no names; their descriptions say what they are for. */
export const secretFor = (template: Template, purpose: RegExp): Resource =>
  only(template, 'AWS::SecretsManager::Secret', ({ Description }) => purpose.test(Description));

/** The properties of all resources of a type. */
export const properties = (template: Template, type: string): Json[] => resources(template, type).map((each) => each.properties);

/** Resources of one of the two APIs. */
export function ofApi(template: Template, protocol: 'HTTP' | 'WEBSOCKET', type: string): Resource[] {
  const api = apiOf(template, protocol);
  return resources(template, `AWS::ApiGatewayV2::${type}`).filter(({ properties }) => target(properties.ApiId) === api.id);
}

export const apiOf = (template: Template, protocol: 'HTTP' | 'WEBSOCKET'): Resource =>
  only(template, 'AWS::ApiGatewayV2::Api', ({ ProtocolType }) => ProtocolType === protocol);

/** The logical id that a `Ref` or `Fn::GetAtt` points to. */
export function target(value: Json): string {
  const id = value?.Ref ?? value?.['Fn::GetAtt']?.[0];
  if (typeof id !== 'string') throw new Error(`not a reference: ${JSON.stringify(value)}`);
  return id;
}

/** A value as CloudFormation renders it, with `{id}` or `{id.attribute}` for what only AWS knows. */
export function rendered(value: Json): string {
  if (typeof value === 'string') return value;
  const { Ref: id, 'Fn::GetAtt': attribute, 'Fn::Join': parts } = value;
  return parts === undefined ? `{${id ?? attribute.join('.')}}` : parts[1].map(rendered).join(parts[0]);
}

/** The functions of this project: CDK has its own, to fill the bucket of the page. */
export function ownFunctions(template: Template): Resource[] {
  return resources(template, 'AWS::Lambda::Function').filter(({ properties }) => properties.FunctionName !== undefined);
}

export const functionNamed = (template: Template, name: FunctionName, settings: Settings): Resource =>
  only(template, 'AWS::Lambda::Function', ({ FunctionName }) => FunctionName === `${settings.name}-${name}`);

export const variablesOf = (template: Template, name: FunctionName, settings: Settings): Json =>
  functionNamed(template, name, settings).properties.Environment.Variables;

/** What calls a function with the records of a queue or a stream. */
export function sourceOf(template: Template, name: FunctionName, settings: Settings): Json {
  const { id } = functionNamed(template, name, settings);
  return only(template, 'AWS::Lambda::EventSourceMapping', ({ FunctionName }) => target(FunctionName) === id).properties;
}

/** The name of the queue with this ARN or URL, without the deployment's. */
export function queueOf(template: Template, reference: Json, settings: Settings): string {
  const queue = resources(template, 'AWS::SQS::Queue').find(({ id }) => id === target(reference))!;
  return queue.properties.QueueName.replace(`${settings.name}-`, '');
}
