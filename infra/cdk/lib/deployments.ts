import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checked, type Deployment } from './deployment.ts';
import { UsageError } from './settings.ts';

const FOLDER = fileURLToPath(new URL('../deployments', import.meta.url));
const EXAMPLE = 'example';
const NAME = /^[a-z][a-z0-9-]*$/;

/** The deployment with this name: its file's export, checked. */
export async function deploymentNamed(name: string | undefined, folder = FOLDER): Promise<Deployment> {
  const there = readdirSync(folder).map((file) => basename(file, '.ts')).filter((each) => each !== EXAMPLE);
  if (name === undefined || !NAME.test(name)) {
    throw new UsageError(`Which deployment? Give ENV=${there.join('|')}; got "${name ?? ''}"`);
  }
  const file = join(folder, `${name}.ts`);
  if (!existsSync(file)) {
    throw new UsageError(
      `There is no infra/cdk/deployments/${name}.ts. To make one:\n` +
        `  cp infra/cdk/deployments/${EXAMPLE}.ts infra/cdk/deployments/${name}.ts\n` +
        'Then put in your values and commit it.',
    );
  }
  return checked(name, (await import(pathToFileURL(file).href)).default);
}
