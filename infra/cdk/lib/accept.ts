import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Says why a rule of AWS Solutions (cdk-nag) does not hold here. `finding` is one of several that the rule may have about
 * the same thing.
 */
export function accept(construct: IConstruct, rule: string, reason: string, finding?: string): void {
  const id = `AwsSolutions::AwsSolutions-${rule}${finding === undefined ? '' : `[${finding}]`}`;
  Validations.of(construct).acknowledge({ id, reason });
}
