import { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigatewayv2';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** The log of a gateway: a line of JSON with these fields for each request. */
export function accessLog(
  scope: Construct,
  { name, logRetentionDays }: Settings,
  of: string,
  fields: Record<string, string>,
): StageOptions['accessLogSettings'] {
  const log = new logs.LogGroup(scope, 'AccessLog', {
    logGroupName: `/aws/vendedlogs/${name}/${of}`,
    retention: logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return { destination: new LogGroupLogDestination(log), format: AccessLogFormat.custom(JSON.stringify(fields)) };
}
