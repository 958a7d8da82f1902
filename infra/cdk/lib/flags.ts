import { createRequire } from 'node:module';

/** CDK's feature flags, as it recommends them to new apps. They say how templates look, and change only with its version. */
export const FLAGS: Record<string, unknown> = createRequire(import.meta.url)('aws-cdk-lib/recommended-feature-flags.json');
