import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from './functions.ts';
import { type Settings, UsageError } from './settings.ts';

/** The built function from `<root>/NAME/bootstrap`. CDK never compiles anything itself. */
export function builtFunction(root: string, name: FunctionName, architecture: Settings['architecture']): lambda.Code {
  const folder = join(root, name);
  if (!existsSync(join(folder, 'bootstrap'))) {
    const command = architecture === 'arm64' ? 'cargo lambda build --release --arm64' : 'make build';
    throw new UsageError(`The function ${name} is not built: no bootstrap in ${folder}. Run \`${command}\` first.`);
  }
  return lambda.Code.fromAsset(folder, { exclude: ['*.zip'] });
}
