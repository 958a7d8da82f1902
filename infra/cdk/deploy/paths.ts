import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The CDK app's folder. */
export const APP = fileURLToPath(new URL('..', import.meta.url));
/** The checkout. */
export const ROOT = join(APP, '../..');
