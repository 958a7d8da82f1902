import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const atRoot = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** A file of the checkout. */
export const read = (path) => readFileSync(atRoot(path), 'utf8');
