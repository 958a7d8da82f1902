// Writes vendor/noble-bls12-381.js: the published package as one file, since browsers find no packages. A test compares.

import { copyFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const WEB = fileURLToPath(new URL('../..', import.meta.url));

/** The text of the file. */
export async function bundled() {
  const bundle = await rolldown({ cwd: WEB, input: '@noble/curves/bls12-381.js' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  return `// @noble/curves, bls12-381 (MIT, see noble-curves.LICENSE). Made by \`npm run vendor\`.\n${output[0].code}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(`${WEB}/vendor/noble-bls12-381.js`, await bundled());
  copyFileSync(`${WEB}/node_modules/@noble/curves/LICENSE`, `${WEB}/vendor/noble-curves.LICENSE`);
}
