// Writes the TypeScript types of openapi.yaml.

import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { atRoot, writeAll } from './files.js';

const OUT = 'clients/typescript/src/openapi.ts';

/** The files of the types, by path in the checkout. */
export async function types() {
  const tree = await openapiTS(pathToFileURL(atRoot('openapi.yaml')), { alphabetize: false, immutable: false, silent: true });
  return { [OUT]: `// Made from openapi.yaml by clients/bin/types.js.\n\n${astToString(tree)}` };
}

if (import.meta.filename === process.argv[1]) await writeAll(await types());
