// Builds the pages for the tests, beside those in `dist`, which another test may be serving.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../build.js';

export default async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'pages-'));
  process.env.PAGES = await build(folder);
  return () => rm(folder, { recursive: true });
}
