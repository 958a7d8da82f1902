// Builds the pages for the stand-in in a separate folder: another test may be serving those in `dist`. A real system has its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../build.js';

export default async function setup() {
  if (process.env.SHOP_URL) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'pages-'));
  process.env.PAGES = await build(folder);
  return () => rm(folder, { recursive: true });
}
