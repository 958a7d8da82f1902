import { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** A log that is kept for as long as the settings say. */
export function logGroup(scope: Construct, id: string, { logRetentionDays }: Settings, logGroupName?: string): LogGroup {
  return new LogGroup(scope, id, { logGroupName, retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY });
}

/** The log of a gateway: a line of JSON with these fields for each request. */
export function accessLog(scope: Construct, settings: Settings, of: string, fields: Record<string, string>): StageOptions['accessLogSettings'] {
  const log = logGroup(scope, 'AccessLog', settings, `/aws/vendedlogs/${settings.name}/${of}`);
  return { destination: new LogGroupLogDestination(log), format: AccessLogFormat.custom(JSON.stringify(fields)) };
}
