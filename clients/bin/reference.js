// Writes docs/api: openapi.yaml as a page that works from the file system, without a network.
//
// Redoc renders it in the browser. Its bundle is a separate file: it changes only with a new version of Redoc, and the page, which
// changes with openapi.yaml, stays small. The page's policy blocks everything from outside the folder.

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { atRoot, writeAll } from './files.js';

const POLICY = [
  "default-src 'none'",
  // On `file:`, 'self' does not match the files beside a page, but the scheme does.
  "script-src 'self' file: 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const OPTIONS = {
  disableSearch: false,
  expandResponses: '',
  hideDownloadButton: true,
  jsonSamplesExpandLevel: 3,
  pathInMiddlePanel: true,
  theme: {
    typography: {
      fontFamily: 'system-ui, sans-serif',
      headings: { fontFamily: 'system-ui, sans-serif' },
      code: { fontFamily: 'ui-monospace, monospace' },
    },
  },
};

/** The files of the reference, by path in the checkout. */
export async function reference() {
  const api = parse(await readFile(atRoot('openapi.yaml'), 'utf8'), { merge: true });
  const bundle = new URL(import.meta.resolve('redoc/bundles/redoc.standalone.js'));
  const licence = new URL('../LICENSE', bundle);
  return {
    'docs/api/index.html': page(api),
    'docs/api/redoc.standalone.js': offline(await readFile(bundle, 'utf8')),
    'docs/api/redoc.LICENSE': await readFile(licence, 'utf8'),
  };
}

/** The bundle without its source map, and without the logo that it would fetch. */
function offline(bundle) {
  const logo = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
  if (!bundle.includes(logo)) throw new Error('the Redoc bundle has another logo: check what it fetches');
  return bundle.replace(logo, 'data:,').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
}

function page(api) {
  // On many lines, so that a small change to the API is a small diff.
  const json = JSON.stringify(api, null, 1).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="${POLICY}">
<title>${api.info.title}: API reference</title>
<!-- Made from openapi.yaml by \`make docs\`. -->
<style>body { margin: 0 }</style>
<div id="reference"></div>
<script src="redoc.standalone.js"></script>
<script>
const api = ${json};
Redoc.init(api, ${JSON.stringify(OPTIONS)}, document.getElementById('reference'));
</script>
</html>
`;
}

if (import.meta.filename === process.argv[1]) await writeAll(await reference());
