// Builds the pages with Vite into `dist`: a few files with content hashes in their names, so browsers may cache them for good.
// The previous build is removed here, but not where it was deployed (infra/cdk/lib/page.ts).

import { rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createServer, build as viteBuild } from 'vite';
import { LICENCES, licencesText, noteLicences } from './licences.js';

export const ROOT = fileURLToPath(new URL('.', import.meta.url));
export const DIST = `${ROOT}dist`;
/** What is built separately. Few people open both pages, so they share no chunks. */
const PAGES = ['index.html', 'operators.html'];
/** Browsers of the last four years. */
const TARGET = ['chrome111', 'firefox114', 'safari16.4'];

/** A plugin: `words/shop.js?en` has the words of one language, since a visitor needs no other. */
const oneLanguage = {
  name: 'one-language',
  async load(id) {
    const [, file, language] = /^(.*\/words\/shop\.js)\?(en|zh)$/.exec(id) ?? [];
    if (!language) return undefined;
    // Another address after each edit: Node loads a module once.
    const { shopWords } = await import(`${file}?${Date.now()}`);
    return `export default ${JSON.stringify(shopWords[language])}`;
  },
};
/** Such a file is named after its language. */
const chunkFileNames = ({ facadeModuleId }) => `assets/${/\/shop\.js\?(\w+)$/.exec(facadeModuleId)?.[1] ?? '[name]'}-[hash].js`;

const shared = { root: ROOT, configFile: false, logLevel: 'warn' };

/** Builds into `outDir`. */
export async function build(outDir = DIST) {
  const packages = new Set();
  for (const [at, page] of PAGES.entries()) {
    await viteBuild({
      ...shared,
      plugins: [oneLanguage, noteLicences(packages)],
      // Files that are copied unchanged come with the first page.
      publicDir: at === 0 ? 'public' : false,
      worker: { format: 'es', plugins: () => [noteLicences(packages)] },
      build: {
        outDir, emptyOutDir: at === 0, target: TARGET, modulePreload: { polyfill: false }, reportCompressedSize: false,
        // The policy allows embedded pictures, but no embedded styles or scripts.
        assetsInlineLimit: (path) => (path.endsWith('.svg') ? undefined : false),
        rolldownOptions: { input: `${ROOT}${page}`, output: { chunkFileNames } },
      },
    });
  }
  await writeFile(`${outDir}/${LICENCES}`, await licencesText(ROOT, packages));
  return outDir;
}

/** Serves the sources during development; a connect middleware. */
export async function sources(server) {
  const { middlewares } = await createServer({ ...shared, plugins: [oneLanguage], appType: 'mpa', publicDir: 'public', server: { middlewareMode: true, hmr: { server } } });
  return middlewares;
}

/** Builds into `dist`. A server that reads it meanwhile sees either the old or the new build, never a mix. */
async function replace() {
  const [coming, going] = ['coming', 'going'].map((which) => `${DIST}.${which}-${process.pid}`);
  await build(coming);
  await rename(DIST, going).catch(({ code }) => {
    if (code !== 'ENOENT') throw new Error(`cannot replace ${DIST}: ${code}`);
  });
  await rename(coming, DIST);
  await rm(going, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await replace();
