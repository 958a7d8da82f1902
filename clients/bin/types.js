// Writes the TypeScript types of the API.

import openapiTS, { astToString } from 'openapi-typescript';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { writeAll } from './files.js';

const OUT = 'clients/typescript/src/openapi.ts';

/** The files of the types, by path in the checkout. */
export async function types() {
  const tree = await openapiTS(openapi(), { alphabetize: false, immutable: false, silent: true });
  return { [OUT]: `// Made from api.yaml by clients/bin/types.js.\n\n${astToString(tree)}` };
}

if (import.meta.filename === process.argv[1]) await writeAll(await types());
