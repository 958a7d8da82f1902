// Reads what the API is described by, and writes what is made of it.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const atRoot = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** A file of the checkout. */
export const read = (path) => readFileSync(atRoot(path), 'utf8');

/** Replaces a file of target/api as a whole: somebody may be reading it. */
export function write(name, content) {
  mkdirSync(atRoot('target/api'), { recursive: true });
  const path = atRoot(`target/api/${name}`);
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(content, null, 1));
  renameSync(`${path}.${process.pid}`, path);
}
