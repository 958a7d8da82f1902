import { Duration, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import type { RustFunction } from './rust-function.ts';

/** Runs a function every minute. It takes no input: it reads from the ledger what to do. */
export class EveryMinute extends Construct {
  constructor(scope: Construct, id: string, fn: RustFunction) {
    super(scope, id);
    const every = Duration.minutes(1);
    if (fn.facts.timeout_s >= every.toSeconds()) throw new Error('A run may overlap the next');
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    });
    role.addToPrincipalPolicy(new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [fn.lambda.functionArn] }));
    new scheduler.Schedule(this, 'Schedule', {
      schedule: scheduler.ScheduleExpression.rate(every),
      description: fn.facts.does,
      // The next run makes up for a missed one.
      target: new LambdaInvoke(fn.lambda, {
        retryAttempts: 0,
        maxEventAge: every,
        // CDK would also permit every version of the function.
        role: iam.Role.fromRoleArn(this, 'AsItIs', role.roleArn, { mutable: false }),
      }),
    });
    fn.lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every });
  }
}
