import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GithubSlugger from 'github-slugger';
import { expect, test } from 'vitest';
import { atRoot } from '../bin/files.js';

/** The Markdown files of the checkout, without what is built or installed. */
function pagesBelow(folder: string): string[] {
  return readdirSync(atRoot(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(\..*|node_modules|target)$/.test(entry.name) ? [] : pagesBelow(path);
    return path.endsWith('.md') ? [path] : [];
  });
}

/** A page's text without code, which has brackets and hashes of its own. */
function prose(page: string) {
  return readFileSync(atRoot(page), 'utf8')
    .replace(/^```.*?^```/gms, '')
    .replace(/^ {4}.*$/gm, '');
}

/** The anchors that GitHub gives to the headings of a page. */
function anchors(page: string) {
  const slugger = new GithubSlugger();
  const headings = [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) => slugger.slug(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')));
}

const PAGES = new Map(pagesBelow('.').map((page) => [page, anchors(page)]));
const LINKS = [...PAGES.keys()].flatMap((page) =>
  [...prose(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([link, file = '', anchor]) => {
    return { page, link, to: file === '' ? page : join(dirname(page), file), anchor };
  }),
);

test('every link between files leads to one, and to a heading that it has', () => {
  const wrong = LINKS.filter(({ to, anchor }) => !existsSync(atRoot(to)) || (anchor && PAGES.get(to)?.includes(anchor) === false));
  expect(wrong).toEqual([]);
  expect(LINKS.length).toBeGreaterThan(PAGES.size);
});

test('every page is linked from another', () => {
  const reached = new Set(LINKS.filter(({ page, to }) => to !== page).map(({ to }) => to));
  expect([...PAGES.keys()].filter((page) => page !== 'README.md' && !reached.has(page))).toEqual([]);
});
