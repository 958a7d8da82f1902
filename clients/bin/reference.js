// Writes docs/api: the API as a page that works from the file system, without a network.
//
// Swagger UI renders it in the browser. Its files are separate: they change only with a new version, and the page, which changes with
// the API, stays small. The page's policy blocks everything from outside the folder.

import { readFile } from 'node:fs/promises';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { events } from '../../infra/cdk/openapi/events.js';
import { writeAll } from './files.js';

const POLICY = [
  "default-src 'none'",
  // On `file:`, 'self' does not match the files beside a page, but the scheme does.
  "script-src 'self' file: 'unsafe-inline'",
  "style-src 'self' file: 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const STYLE = `
body { margin: 0 }
.swagger-ui .search { position: sticky; top: 0; z-index: 1; padding: 10px 20px; background: #fff }
.swagger-ui .search input { width: 100%; max-width: none }
/* What is for requests, which it does not send. */
.swagger-ui :is(.auth-container label, .auth-container input, .auth-btn-wrapper .authorize, .parameters input) { display: none !important }
.swagger-ui :is(.response-col_links, .response-control-media-type__accept-message) { display: none }
`;

/** The files of Swagger UI that the page needs. */
const BUNDLE = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];

/** The files of the reference, by path in the checkout. */
export async function reference() {
  const api = openapi();
  const files = { 'docs/api/openapi.json': JSON.stringify(api, null, 2), 'docs/api/index.html': page(api) };
  for (const [type, schema] of Object.entries(events())) files[`docs/api/${type}.json`] = JSON.stringify(schema, null, 2);
  for (const name of BUNDLE) {
    const text = await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)), 'utf8');
    const path = `docs/api/${name.replace(/^[A-Z]+$/, 'swagger-ui.$&')}`;
    // Without the name of its source map, which stays behind.
    files[path] = text.replace(/\n\/[/*]# sourceMappingURL=.*\n?$/, '\n');
  }
  return files;
}

/** Runs in the page. */
function show(api) {
  const TEXTS = [['path'], ['operation', 'summary'], ['operation', 'description']];
  const text = (tag, operation) => [tag, ...TEXTS.map((part) => operation.getIn(part))].join(' ').toLowerCase();
  const search = (tags, phrase) =>
    tags
      .map((tag, name) =>
        tag.update('operations', (all) => all.filter((operation) => text(name, operation).includes(phrase.toLowerCase()))),
      )
      .filter((tag) => tag.get('operations').size > 0);
  SwaggerUIBundle({
    spec: api,
    dom_id: '#reference',
    deepLinking: true,
    defaultModelRendering: 'model',
    defaultModelsExpandDepth: 0,
    filter: true,
    showExtensions: true,
    supportedSubmitMethods: [],
    plugins: [
      ({ React: { createElement: h } }) => ({
        // Swagger UI's own search is in tags and paths only.
        fn: { opsFilter: search },
        components: {
          FilterContainer: ({ layoutActions }) => {
            const onChange = (event) => layoutActions.updateFilter(event.target.value);
            return h('div', { className: 'search wrapper' }, h('input', { type: 'search', placeholder: 'Search', onChange }));
          },
          InfoUrl: () => null,
        },
        // Of a response's content types, the first one is shown first.
        wrapComponents: {
          response: (Response) => (props) => h(Response, { ...props, contentType: props.response.get('content')?.keySeq().first() }),
        },
        // It follows no reference in a document that comes from `file:`, not even one within the document.
        statePlugins: { spec: { wrapSelectors: { url: () => () => 'https://openapi.invalid/' } } },
      }),
    ],
  });
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
<!-- Made from api.yaml by \`make docs\`. -->
<link rel="stylesheet" href="swagger-ui.css">
<style>${STYLE}</style>
<div id="reference"></div>
<script src="swagger-ui-bundle.js"></script>
<script>
const api = ${json};
${show}
show(api);
</script>
</html>
`;
}

if (import.meta.filename === process.argv[1]) await writeAll(await reference());
