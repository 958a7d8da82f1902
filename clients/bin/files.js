// Files of the checkout, and whether what is made from others is up to date.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of a file of the checkout. */
export function atRoot(path) {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** Writes files that are given by their path in the checkout. */
export async function writeAll(files) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(atRoot(path)), { recursive: true });
    await writeFile(atRoot(path), text);
  }
}
