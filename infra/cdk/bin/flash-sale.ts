import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { deploymentNamed, settingsOf } from '../lib/deployment.ts';
import { checkRules, FLAGS } from '../lib/cdk.ts';
import { FlashSaleStack } from '../lib/flash-sale-stack.ts';
import { type Settings, UsageError } from '../lib/settings.ts';
import { local } from '../settings/local.ts';

// Functions for AWS have their own folder, so that a build for this machine does not replace them.
const BUILT = { local: '../../../target/lambda', aws: '../../../target/aws' };
const BUILT_PAGES = fileURLToPath(new URL('../../../web/dist', import.meta.url));

const app = new App({ context: FLAGS });
const given = (key: string): string | undefined => app.node.tryGetContext(key);

/** Takes `-c env=NAME` for AWS, and `-c settings=local` for an emulator that a program has started. */
async function settingsGiven(): Promise<Settings> {
  if (given('settings') === 'local') {
    return {
      ...local,
      name: given('name') ?? local.name,
      emulator: given('emulator') ?? local.emulator,
      issuer: given('issuer') ?? local.issuer,
      audience: given('audience')?.split(',').map((part) => part.trim()) ?? [],
    };
  }
  const name = given('env');
  const deployment = await deploymentNamed(name, given('deployments'));
  return settingsOf(name ?? '', deployment, { first: given('first') === 'true', releases: given('releases') === 'at-once' ? 'at-once' : undefined });
}

try {
  const settings = await settingsGiven();
  // Not for the emulator, which has no TLS and only one of everything.
  if (settings.emulator === undefined) await checkRules(app);
  const built = fileURLToPath(new URL(settings.emulator === undefined ? BUILT.aws : BUILT.local, import.meta.url));
  const assetRoot = given('functions') ?? built;
  new FlashSaleStack(app, 'FlashSale', { settings, assetRoot, pages: given('pages') ?? BUILT_PAGES });
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exit(1);
}
