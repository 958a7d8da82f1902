import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checked, type Deployment } from './deployment.ts';
import { UsageError } from './settings.ts';

const FOLDER = fileURLToPath(new URL('../deployments', import.meta.url));
const EXAMPLE = 'example';
const NAME = /^[a-z][a-z0-9-]*$/;

/** The settings of the system that `make up` runs. */
const RUNNING = fileURLToPath(new URL('../../../target/local/up.env', import.meta.url));

/** The deployment with this name: its file's export, checked. `running` is the file with the settings of a running emulator. */
export async function deploymentNamed(name: string | undefined, folder = FOLDER, running = RUNNING): Promise<Deployment> {
  const there = readdirSync(folder).map((file) => basename(file, '.ts')).filter((each) => each !== EXAMPLE);
  if (name === undefined || !NAME.test(name)) {
    throw new UsageError(`Which deployment? One of ${there.join(', ')}; got "${name ?? ''}"`);
  }
  if (name === EXAMPLE) {
    throw new UsageError(
      `infra/cdk/deployments/${EXAMPLE}.ts is a template. Copy it, put in your values and commit it:\n` +
        `  cp infra/cdk/deployments/${EXAMPLE}.ts infra/cdk/deployments/prod.ts`,
    );
  }
  const file = join(folder, `${name}.ts`);
  if (!existsSync(file)) {
    throw new UsageError(
      `There is no infra/cdk/deployments/${name}.ts. To make one:\n` +
        `  cp infra/cdk/deployments/${EXAMPLE}.ts infra/cdk/deployments/${name}.ts\n` +
        'Then put in your values and commit it.',
    );
  }
  const deployment = checked(name, (await import(pathToFileURL(file).href)).default);
  if (deployment.profile === 'local' && deployment.emulator === undefined) {
    const load = 'load its settings with `. target/local/up.env`';
    throw new UsageError(existsSync(running) ? `To reach the running system, ${load}` : `No system is running: start one with \`make up\`, then ${load}`);
  }
  return deployment;
}
