// Chromium for tests: the one named by CHROMIUM, or the one that npm installed, which brings every library and font that it needs.

import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';
import { atRoot } from './files.js';

const PACKAGE = atRoot('node_modules/@sparticuz/chromium');
const UNPACKED = `${PACKAGE}/unpacked`;
/** Has the Chinese characters, which the package's own fonts lack. */
const CHINESE = atRoot('node_modules/@expo-google-fonts/zcool-xiaowei/400Regular');
/** No fonts of the machine: a test sees the same everywhere. */
const FONTS = `<?xml version="1.0"?>
<fontconfig><dir>${UNPACKED}/fonts</dir><dir>${CHINESE}</dir><cachedir>${UNPACKED}/fonts-cache</cachedir></fontconfig>
`;

/** The options of playwright's `chromium.launch`. */
export async function launchOptions() {
  const given = process.env.CHROMIUM;
  if (given) {
    if (!existsSync(given)) throw new Error(`CHROMIUM: there is no ${given}. Without CHROMIUM, tests use a browser of their own.`);
    return { executablePath: given, args: ['--no-sandbox'] };
  }
  await unpack();
  return {
    executablePath: `${UNPACKED}/chromium`,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    env: { ...process.env, LD_LIBRARY_PATH: `${UNPACKED}/al2023/lib`, FONTCONFIG_FILE: `${UNPACKED}/fonts.conf` },
  };
}

/** Several tests may do this at once: the folder appears when it is complete, and the first one stays. */
async function unpack() {
  if (existsSync(UNPACKED)) return;
  const folder = await mkdtemp(`${UNPACKED}-`);
  const packed = (name) => join(PACKAGE, 'bin', `${name}.br`);
  for (const name of ['al2023', 'fonts']) {
    await mkdir(`${folder}/${name}`);
    const input = brotliDecompressSync(await readFile(packed(`${name}.tar`)));
    const { status, error, stderr } = spawnSync('tar', ['-x', '-C', `${folder}/${name}`], { input, timeout: 60_000 });
    if (status !== 0) throw error ?? new Error(`tar: ${stderr}`);
  }
  await writeFile(`${folder}/fonts.conf`, FONTS);
  const program = createWriteStream(`${folder}/chromium`, { mode: 0o755 });
  await pipeline(createReadStream(packed('chromium')), createBrotliDecompress(), program);
  await rename(folder, UNPACKED).catch((error) => {
    if (!existsSync(UNPACKED)) throw error;
  });
  await rm(folder, { recursive: true, force: true });
}
