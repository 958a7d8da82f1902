import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Holds everything to the rules of AWS Solutions: a finding that nobody has accepted ends the synthesis. */
export function checkRules(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
