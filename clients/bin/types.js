// Writes the TypeScript types of the API, and the licence that the package has to contain.

import { readFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { atRoot, writeAll } from './files.js';

const OUT = 'clients/typescript/src/openapi.ts';

/** The files, by path in the checkout. */
async function files() {
  const tree = await openapiTS(openapi(), { alphabetize: false, immutable: false, silent: true });
  const LICENSE = await readFile(atRoot('LICENSE'), 'utf8');
  return { [OUT]: `// Made from api.yaml by clients/bin/types.js.\n\n${astToString(tree)}`, 'clients/typescript/LICENSE': LICENSE };
}

await writeAll(await files());
