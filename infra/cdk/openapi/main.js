// Writes the documents for what reads no JavaScript: target/api/openapi.json and events.json.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { openapi } from './document.js';
import { events } from './events.js';
import { atRoot } from './files.js';

mkdirSync(atRoot('target/api'), { recursive: true });
for (const [name, content] of Object.entries({ openapi: openapi(), events: events() })) {
  const path = atRoot(`target/api/${name}.json`);
  // Replaced as a whole: somebody may be reading it.
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(content, null, 1));
  renameSync(`${path}.${process.pid}`, path);
}
