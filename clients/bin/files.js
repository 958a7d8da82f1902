// Paths in the checkout, and writing generated files to it.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The absolute path of a file in the checkout. */
export const atRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Writes files, `{path in the checkout: text}`, unless they are the same: somebody may be reading them. */
export async function writeAll(files) {
  for (const [path, text] of Object.entries(files)) {
    if ((await readFile(atRoot(path), 'utf8').catch(() => null)) === text) continue;
    await mkdir(dirname(atRoot(path)), { recursive: true });
    await writeFile(atRoot(path), text);
  }
}
