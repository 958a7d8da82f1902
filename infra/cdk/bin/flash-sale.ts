import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { EdgeStack } from '../lib/edge-stack.ts';
import { FlashSaleStack } from '../lib/flash-sale-stack.ts';
import { withOverrides } from '../lib/overrides.ts';
import { UsageError } from '../lib/settings.ts';
import { settingsNamed } from '../settings/index.ts';

const BUILT_FUNCTIONS = fileURLToPath(new URL('../../../target/lambda', import.meta.url));
const BUILT_PAGES = fileURLToPath(new URL('../../../web/dist', import.meta.url));

const app = new App();
const given = (key: string): string | undefined => app.node.tryGetContext(key);

try {
  const settings = withOverrides(settingsNamed(given('settings')), {
    name: given('name'),
    issuer: given('issuer'),
    audience: given('audience'),
    redisUrl: given('redisUrl'),
    logLevel: given('logLevel'),
    alarmEmail: given('alarmEmail'),
    emulator: given('emulator'),
    payUrl: given('payUrl'),
    contactUrl: given('contactUrl'),
    giftUrl: given('giftUrl'),
    pictureHosts: given('pictureHosts'),
    isolateHotSalesTo: given('isolateHotSalesTo'),
    webhookUrl: given('webhookUrl'),
    operatorClaim: given('operatorClaim'),
    provisioned: given('provisioned'),
    accountConcurrency: given('accountConcurrency'),
  });
  // Not for the emulator: it has no TLS and one of everything. They take a while to load.
  if (settings.emulator === undefined) (await import('../lib/rules.ts')).checkRules(app);
  const edge = settings.edge && new EdgeStack(app, 'FlashSaleEdge', { settings, edge: settings.edge });
  const assetRoot = given('functions') ?? BUILT_FUNCTIONS;
  new FlashSaleStack(app, 'FlashSale', { settings, assetRoot, pages: given('pages') ?? BUILT_PAGES, edge });
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exit(1);
}
