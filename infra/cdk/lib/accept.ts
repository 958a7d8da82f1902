import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Records why a rule of AWS Solutions (cdk-nag) is not followed here. `finding` selects one of several findings of the rule on
 * the same construct.
 */
export function accept(construct: IConstruct, rule: string, reason: string, finding?: string): void {
  const id = `AwsSolutions::AwsSolutions-${rule}${finding === undefined ? '' : `[${finding}]`}`;
  Validations.of(construct).acknowledge({ id, reason });
}
