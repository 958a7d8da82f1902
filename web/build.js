// Builds the pages with Vite into `dist`: a few files whose names say what is in them, so that browsers may keep them for good.
// The build before goes; what was deployed of it stays where it was deployed (infra/cdk/lib/page.ts).

import { rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createServer, build as viteBuild } from 'vite';

export const ROOT = fileURLToPath(new URL('.', import.meta.url));
export const DIST = `${ROOT}dist`;
/** What is built by itself. Who opens one page seldom opens the other, so nothing is cut out of either for both. */
const PAGES = ['index.html', 'operators.html'];
/** Browsers of the last four years. */
const TARGET = ['chrome111', 'firefox114', 'safari16.4'];

const shared = { root: ROOT, configFile: false, logLevel: 'warn' };

/** Builds into `outDir`. */
export async function build(outDir = DIST) {
  for (const [at, page] of PAGES.entries()) {
    await viteBuild({
      ...shared,
      // What is copied as it is comes with the first page.
      publicDir: at === 0 ? 'public' : false,
      worker: { format: 'es' },
      build: {
        outDir, emptyOutDir: at === 0, target: TARGET, modulePreload: { polyfill: false }, reportCompressedSize: false,
        // The policy allows pictures of the page itself as data, and no style or script.
        assetsInlineLimit: (path) => (path.endsWith('.svg') ? undefined : false),
        rolldownOptions: { input: `${ROOT}${page}` },
      },
    });
  }
  return outDir;
}

/** Serves the sources, for those who work on them; a connect middleware. */
export async function sources(server) {
  const { middlewares } = await createServer({ ...shared, appType: 'mpa', publicDir: 'public', server: { middlewareMode: true, hmr: { server } } });
  return middlewares;
}

/** Builds into `dist`. Whoever serves it meanwhile has the old build or the new one, whole. */
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
