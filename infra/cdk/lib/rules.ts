import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Checks everything against the rules of AWS Solutions: a finding that is not accepted fails the synthesis. */
export function checkRules(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
