// The licences of third-party code in the pages: packages whose modules, styles or fonts are in the build.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Served beside the pages. */
export const LICENCES = 'licenses.txt';

/** A Vite plugin that collects in `folders` the packages that the build contains. */
export function noteLicences(folders) {
  const note = (file) => {
    const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  };
  return {
    name: 'licences',
    // Styles are no longer among the modules when files are written.
    transform(_, id) {
      if (/\.css($|\?)/.test(id)) note(id);
    },
    generateBundle(_, files) {
      for (const file of Object.values(files)) {
        for (const id of Object.keys(file.modules ?? {})) note(id);
        for (const original of file.originalFileNames ?? []) note(join(this.environment.config.root, original));
      }
    },
  };
}

/** The text of our own licence and of each package's. */
export async function licencesText(root, folders) {
  const own = await readFile(join(root, '../LICENSE'), 'utf8');
  const parts = [];
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} is in the pages and has no file with its licence`);
    parts.push(`${name} ${version} (${license})\n\n${(await readFile(join(folder, file), 'utf8')).trim()}`);
  }
  const rule = `\n\n${'='.repeat(100)}\n\n`;
  return `${['These pages are part of flash-sale and contain the software and the typeface below.', ...parts, `flash-sale\n\n${own.trim()}`].join(rule)}\n`;
}
