// Writes the TypeScript types of the API, and the licence that the package has to contain.

import { readFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { atRoot, writeAll } from './files.js';

const types = astToString(await openapiTS(openapi(), { silent: true }));
await writeAll({
  'clients/typescript/src/openapi.ts': `// Made from api.yaml by clients/bin/types.js.\n\n${types}`,
  'clients/typescript/LICENSE': await readFile(atRoot('LICENSE'), 'utf8'),
});
