import { createRequire } from 'node:module';
import { type App, CliCredentialsStackSynthesizer, DefaultStackSynthesizer, type IStackSynthesizer, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import type { Settings } from './settings.ts';

/** CDK's feature flags, as it recommends them to new apps. They say how templates look, and change only with its version. */
export const FLAGS: Record<string, unknown> = createRequire(import.meta.url)('aws-cdk-lib/recommended-feature-flags.json');

/**
 * Records why a rule of AWS Solutions (cdk-nag) is not followed here. `finding` selects one of several findings of the rule on
 * the same construct.
 */
export function accept(construct: IConstruct, rule: string, reason: string, finding?: string): void {
  const id = `AwsSolutions::AwsSolutions-${rule}${finding === undefined ? '' : `[${finding}]`}`;
  Validations.of(construct).acknowledge({ id, reason });
}

/** Checks everything against the rules of AWS Solutions, which take a while to load: a finding that is not accepted fails the synthesis. */
export async function checkRules(app: App): Promise<void> {
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

/** What happens to data when its resource is removed: kept if the settings say so, but not after a failed first deployment. */
export function kept({ keepData }: Settings): RemovalPolicy {
  return keepData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}

/** Whether data refuses to be deleted: what is kept, once the stack has been created. */
export const isProtected = ({ keepData, first }: Settings): boolean => keepData && !first;

/** How a stack's files get to the account, and with which roles it is deployed. The emulator has a bucket and no bootstrap stack. */
export function synthesizerOf({ emulator, qualifier }: Settings): IStackSynthesizer {
  return emulator === undefined
    ? new DefaultStackSynthesizer({ qualifier })
    : new CliCredentialsStackSynthesizer({ fileAssetsBucketName: 'flash-sale-functions' });
}

/** A log that is kept for as long as the settings say. */
export function logGroup(scope: Construct, id: string, { logRetentionDays }: Settings, logGroupName?: string): LogGroup {
  return new LogGroup(scope, id, { logGroupName, retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY });
}

/** The log of a gateway: a line of JSON with these fields for each request. */
export function accessLog(scope: Construct, settings: Settings, of: string, fields: Record<string, string>): StageOptions['accessLogSettings'] {
  const log = logGroup(scope, 'AccessLog', settings, `/aws/vendedlogs/${settings.name}/${of}`);
  return { destination: new LogGroupLogDestination(log), format: AccessLogFormat.custom(JSON.stringify(fields)) };
}
