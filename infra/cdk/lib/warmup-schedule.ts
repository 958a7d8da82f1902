import { Duration } from 'aws-cdk-lib';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import { WARMUP_EVERY_S } from './functions.ts';
import type { RustFunction } from './rust-function.ts';

/** Runs warmup every minute. It takes no input: it reads what is to be done from the ledger. */
export class WarmupSchedule extends Construct {
  constructor(scope: Construct, id: string, warmup: RustFunction) {
    super(scope, id);
    if (warmup.facts.timeout_s >= WARMUP_EVERY_S) throw new Error('A run of warmup may overlap the next');
    const every = Duration.seconds(WARMUP_EVERY_S);
    new scheduler.Schedule(this, 'Schedule', {
      schedule: scheduler.ScheduleExpression.rate(every),
      description: warmup.facts.does,
      // The next run repairs what this one missed.
      target: new LambdaInvoke(warmup.lambda, { retryAttempts: 0, maxEventAge: every }),
    });
    warmup.lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every });
  }
}
