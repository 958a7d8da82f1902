import { Duration } from 'aws-cdk-lib';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import { SCHEDULE_EVERY_S } from './functions.ts';
import type { RustFunction } from './rust-function.ts';

/** Runs a function every minute. It takes no input: it reads what is to be done from the ledger. */
export class EveryMinute extends Construct {
  constructor(scope: Construct, id: string, fn: RustFunction) {
    super(scope, id);
    if (fn.facts.timeout_s >= SCHEDULE_EVERY_S) throw new Error('A run may overlap the next');
    const every = Duration.seconds(SCHEDULE_EVERY_S);
    new scheduler.Schedule(this, 'Schedule', {
      schedule: scheduler.ScheduleExpression.rate(every),
      description: fn.facts.does,
      // The next run repairs what this one missed.
      target: new LambdaInvoke(fn.lambda, { retryAttempts: 0, maxEventAge: every }),
    });
    fn.lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every });
  }
}
