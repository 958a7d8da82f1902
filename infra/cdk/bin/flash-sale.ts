import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { FlashSaleStack } from '../lib/flash-sale-stack.ts';
import { withOverrides } from '../lib/settings.ts';
import { settingsNamed } from '../settings/index.ts';

const app = new App();
const given = (key: string): string | undefined => app.node.tryGetContext(key);

const settings = withOverrides(settingsNamed(given('settings')), {
  name: given('name'),
  issuer: given('issuer'),
  audience: given('audience'),
  redisUrl: given('redisUrl'),
  logLevel: given('logLevel'),
  alarmEmail: given('alarmEmail'),
});
const assetRoot = given('functions') ?? fileURLToPath(new URL('../../../target/lambda', import.meta.url));

new FlashSaleStack(app, 'FlashSale', { settings, assetRoot });
