// Checks every link of the documentation twice: in the Markdown files with GitHub's anchors, and in the built site with
// mdBook's. Works offline: for external addresses it checks only the form.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Parser } from 'htmlparser2';
import { remark } from 'remark';
import remarkValidateLinks from 'remark-validate-links';
import { engine } from 'unified-engine';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SITE = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target', 'site');

/** The files below a folder with this ending, but for what is built or installed. */
function files(ending, root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(\..*|node_modules|target)$/.test(entry.name) ? [] : files(ending, root, path);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}

/** What is wrong with the table of contents: pages that it lacks. */
function listed() {
  const summary = readFileSync(join(ROOT, 'docs/SUMMARY.md'), 'utf8');
  const links = new Set([...summary.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => join('docs', link)));
  const missing = files('.md', ROOT).filter((page) => page !== 'docs/SUMMARY.md' && !links.has(page));
  return missing.map((page) => `docs/SUMMARY.md lacks ${page}`);
}

/** What is wrong with links between Markdown files. */
function sources() {
  return new Promise((checked, failed) => {
    const options = {
      cwd: ROOT,
      files: files('.md', ROOT),
      processor: remark(),
      plugins: [[remarkValidateLinks, { repository: false, root: ROOT, urlConfig: { headingPrefix: '#', lines: false } }]],
      silent: true,
      out: false,
    };
    engine(options, (error, code, context) => {
      if (error || code !== 0) failed(error ?? new Error('remark failed'));
      else checked(context.files.flatMap(({ path, messages }) => messages.map(({ line, reason }) => `${path}:${line}: ${reason}`)));
    });
  });
}

/** The anchors of a page of the site, and what it links to. */
function read(file) {
  const [anchors, links] = [new Set(), []];
  const parser = new Parser({
    onopentag(name, { id, href, src }) {
      if (id) anchors.add(id);
      if (name === 'a' && href) links.push(href);
      if (['img', 'script'].includes(name) && src) links.push(src);
      if (name === 'link' && href) links.push(href);
    },
  });
  parser.end(readFileSync(file, 'utf8'));
  return { anchors, links };
}

/** Whether an address elsewhere has the form of one. */
function isAddress(link) {
  if (link.startsWith('mailto:')) return /^mailto:[^@\s]+@[^@\s]+$/.test(link);
  return URL.canParse(link) && /^https?:$/.test(new URL(link).protocol) && /\.[a-z]{2,}$/.test(new URL(link).hostname);
}

/** What is wrong with links in the built site. */
function site() {
  const wrong = [];
  const pages = new Map(files('.html', SITE).map((path) => [join(SITE, path), read(join(SITE, path))]));
  let [inside, elsewhere] = [0, 0];
  for (const [page, { links }] of pages) {
    // The 404 page is for servers and uses addresses from the root.
    if (page === join(SITE, '404.html')) continue;
    for (const link of links) {
      const say = (what) => wrong.push(`${relative(ROOT, page)}: ${link} ${what}`);
      if (/^[a-z]+:/.test(link)) {
        elsewhere += 1;
        if (!isAddress(link)) say('is not an address');
        continue;
      }
      inside += 1;
      const url = new URL(link, pathToFileURL(page));
      const file = fileURLToPath(new URL(url.pathname, url));
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (!file.startsWith(`${SITE}/`) || !existsSync(file) || !statSync(file).isFile()) say('is not in the site');
      else if (anchor && !pages.get(file)?.anchors.has(anchor)) say('is an anchor that the page does not have');
    }
  }
  console.log(`${pages.size} pages, ${inside} links in the site, ${elsewhere} to elsewhere`);
  return wrong;
}

const wrong = [...listed(), ...(await sources()), ...site()];
for (const line of wrong) console.error(line);
process.exit(wrong.length === 0 ? 0 : 1);
