import { lookup } from 'node:dns/promises';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { type Deployment, deploymentNamed, settingsOf } from '../lib/deployment.ts';
import { EDGE_REGION } from '../lib/edge-stack.ts';
import { type Settings, UsageError } from '../lib/settings.ts';
import { accountOf, type Aws, awsIn } from './aws.ts';
import { say } from './steps.ts';

/** A deployment, and its account. */
export interface Target {
  name: string;
  deployment: Deployment;
  settings: Settings;
  aws: Aws;
  /** Of us-east-1. */
  edgeAws: Aws;
  account: string;
}

/** The account, which must be the file's if that names one. */
export function ofAccount({ account: wanted }: Deployment, name: string, account: string): string {
  if (wanted !== undefined && wanted !== account) {
    throw new UsageError(`These credentials belong to the account ${account}, but ${name} belongs to ${wanted}: export AWS_PROFILE=… of the right account.`);
  }
  return account;
}

/** Reads the deployment's file and checks the credentials, before anything that takes long. */
export async function target(name: string | undefined): Promise<Target> {
  const deployment = await deploymentNamed(name);
  const settings = settingsOf(name!, deployment);
  say(`${name}: profile ${deployment.profile} in ${deployment.region}, stack ${settings.name}`);
  const aws = awsIn(deployment.region);
  const account = ofAccount(deployment, name!, await accountOf(aws));
  say(`account ${account}`);
  return { name: name!, deployment, settings, aws, edgeAws: awsIn(EDGE_REGION), account };
}

/** The stack's outputs; empty if there is none. */
export async function outputsOf({ aws, settings: { name } }: Target): Promise<Record<string, string>> {
  try {
    const { Stacks } = await aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
    return Object.fromEntries((Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!]));
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return {};
    throw error;
  }
}

/** The emulator's address of an API has its id in the path. */
export function urlOf({ settings: { emulator } }: Target, outputs: Record<string, string>): string {
  const url = outputs['EdgeUrl'] ?? outputs['ApiUrl'];
  if (url === undefined) throw new UsageError('The stack has no address yet: run `./flash deploy` first.');
  return emulator === undefined ? url : `${emulator}/_aws/execute-api/${url.split('//')[1]?.split('.')[0]}`;
}

/** The WebSocket API's address. On the emulator its path begins with the API's id, and the stage follows. */
export function pushUrlOf({ settings: { emulator } }: Pick<Target, 'settings'>, outputs: Record<string, string>): string | undefined {
  const url = outputs['PushUrl'];
  if (emulator === undefined || url === undefined) return url;
  const { hostname, pathname } = new URL(url);
  return `${emulator.replace('http', 'ws')}/_aws/execute-api/${hostname.split('.')[0]}${pathname}`;
}

/**
 * The shop's address: its own name, once that has its record. Until then CloudFront's, and the missing record is reported.
 */
export async function urlThatAnswers(on: Target, outputs: Record<string, string>, tell: (line: string) => void, resolve: (host: string) => Promise<unknown> = lookup): Promise<string> {
  const url = urlOf(on, outputs);
  const [domain, cloudFront] = [on.settings.edge?.domain, outputs['EdgeCloudFrontName']];
  if (domain === undefined || cloudFront === undefined) return url;
  try {
    await resolve(domain.name);
    return url;
  } catch {
    const missing = domain.zone === undefined ? `create the record ${domain.name} CNAME ${cloudFront}` : `its record in the zone ${domain.zone.name} is not visible here yet`;
    tell(`  ${domain.name} has no address: ${missing}. Tested under https://${cloudFront} meanwhile.`);
    return `https://${cloudFront}`;
  }
}
