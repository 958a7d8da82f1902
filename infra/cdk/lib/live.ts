import { TimeZone } from 'aws-cdk-lib';
import { Schedule } from 'aws-cdk-lib/aws-applicationautoscaling';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { accept } from './accept.ts';
import type { ProvisionedWindow } from './settings.ts';

/** Keeps processes ready for the crowd of an opening. */
export function provisioned(alias: lambda.Alias, windows: ProvisionedWindow[]): void {
  const processes = alias.addAutoScaling({ minCapacity: 0, maxCapacity: 0 });
  windows.forEach(({ from, to, timeZone, count }, index) => {
    const zone = timeZone === undefined ? undefined : TimeZone.of(timeZone);
    const at = (when: string, capacity: number) => ({
      schedule: when.startsWith('cron(') ? Schedule.expression(when) : Schedule.at(new Date(when)),
      timeZone: zone,
      minCapacity: capacity,
      maxCapacity: capacity,
    });
    processes.scaleOnSchedule(`From${index}`, at(from, count));
    processes.scaleOnSchedule(`To${index}`, at(to, 0));
  });
}

/**
 * A new version gets a tenth of the requests for five minutes, and then all. If an alarm rings meanwhile, CodeDeploy switches
 * back to the old one, and CloudFormation rolls the whole deployment back.
 */
export function canary(scope: Construct, application: codedeploy.ILambdaApplication, alias: lambda.Alias, alarms: IAlarm[]): void {
  const group = new codedeploy.LambdaDeploymentGroup(scope, 'Release', {
    application,
    alias,
    deploymentConfig: codedeploy.LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
    alarms,
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
  });
  accept(
    group,
    'IAM4',
    'AWS provides this policy for CodeDeploy; it only permits moving aliases.',
    'Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited',
  );
}
