import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT } from './paths.ts';

/** The licences of third-party code in the functions, which every build for AWS writes anew. */
export const THIRD_PARTY = 'THIRD-PARTY-LICENSES.txt';
/** The files in every archive besides the program. */
export const LICENCE_FILES = ['LICENSE', THIRD_PARTY];
/** The targets that functions are built for: AWS, and the machines of `make up`. */
const TARGETS = ['aarch64-unknown-linux-gnu', 'x86_64-unknown-linux-gnu'];

/** Names of licence files in crates, which must be distributed with them. */
const LICENCE_NAME = /^(?:un)?(?:licen[cs]e|copying|copyright|notice)(?!.*\.rs$)/i;

/** The line between two parts of the file, which no licence text contains. */
const RULE = '='.repeat(100);

/** What a program prints in the checkout's root. */
function printed(program: string, args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${error?.message ?? stderr}`);
  return stdout;
}

/** Every crate that is compiled into a function, as `name version`: what cargo would link, without compiling. */
export function shippedCrates(): string[] {
  // In the root it uses `default-members`, which are the functions.
  const args = ['tree', '--locked', '--edges', 'normal,no-proc-macro', '--prefix', 'none', '--format', '{p}', '--target'];
  const lines = TARGETS.flatMap((target) => printed('cargo', [...args, target]).split('\n'));
  // Our own crates have their path after the version.
  const crates = lines.flatMap((line) => /^(\S+) v(\S+)(?: \(\*\))?$/.exec(line)?.slice(1).join(' ') ?? []);
  return [...new Set(crates)].sort();
}

/** Which licence is used for a crate without a text, by its file in Rust's documentation. */
function textOf(license: string | null): string {
  const id = ['Apache-2.0', 'MIT'].find((each) => license !== null && !/\bAND\b/.test(license) && license.split(/ OR |\//).includes(each));
  if (id === undefined) throw new Error(`there is no text for ${license}`);
  return id;
}

/** A crate in the output of `cargo metadata`. */
interface Crate {
  name: string;
  version: string;
  manifest_path: string;
  license: string | null;
  authors: string[];
  repository: string | null;
}

/** A licence text, and the crates that it applies to. */
interface Text {
  title: string;
  text: string;
  crates: Set<string>;
}

const HEAD = `Third-party software in the functions of flash-sale

Each function contains some of the crates below and the standard library of Rust. Every text appears once, with the crates that
contain it; where a crate offers a choice of licences, any of them will do. For a crate without a text, that of its licence is taken from
Rust's documentation. Our own code is licensed as the file LICENSE says.`;

/** Renders the file. The same crates give the same file. */
function render(crates: Crate[], texts: Text[], standard: string): string {
  const lines = crates.map(({ name, version, license, authors, repository }) => {
    const by = authors.length === 0 ? '' : `, by ${authors.join(', ')}`;
    return `${name} ${version}: ${license ?? 'see its text'}${by}${repository === null ? '' : `, ${repository}`}`;
  });
  const ordered = texts.map(({ title, text, crates: of }) => `${title}\nof ${[...of].sort().join(', ')}\n\n${tidy(text)}`).sort();
  const numbered = ordered.map((text, at) => `Text ${at + 1}: ${text}`);
  return `${[HEAD, `Crates\n\n${lines.sort().join('\n')}`, ...numbered, standard].join(`\n\n${RULE}\n\n`)}\n`;
}

/** Removes spaces at the ends of lines and repeated empty lines. */
function tidy(text: string): string {
  const lines = text.replaceAll('\r', '').split('\n').map((line) => line.trimEnd());
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n').replace(/^\n+|\n+$/g, '');
}

/** Treats texts that differ only in whitespace as the same. */
const sameText = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ').trim();

/** Writes THIRD-PARTY-LICENSES.txt from the crates' own licence files, and from the toolchain's page about its standard library. */
export function writeLicences(): void {
  const documents = join(printed('rustc', ['--print', 'sysroot']).trim(), 'share/doc/rust');
  const shipped = shippedCrates();
  const platforms = TARGETS.flatMap((target) => ['--filter-platform', target]);
  const { packages }: { packages: Crate[] } = JSON.parse(printed('cargo', ['metadata', '--locked', '--format-version', '1', ...platforms]));
  const crates = packages.filter(({ name, version }) => shipped.includes(`${name} ${version}`));
  if (crates.length !== shipped.length) throw new Error(`cargo links ${shipped.length} crates and describes ${crates.length} of them`);
  const texts = textsOf(crates, documents);
  const file = render(crates, texts, standard(documents));
  if (file.split(RULE).length !== texts.length + 3) throw new Error('a text contains the separator line');
  writeFileSync(join(ROOT, THIRD_PARTY), file);
}

function textsOf(crates: Crate[], documents: string): Text[] {
  const texts = new Map<string, Text>();
  const add = (title: string, text: string, crate: string): void => {
    const known = texts.get(sameText(text)) ?? { title, text, crates: new Set<string>() };
    texts.set(sameText(text), known);
    known.crates.add(crate);
  };
  for (const { name, version, license, manifest_path } of crates) {
    const folder = dirname(manifest_path);
    // Includes licences of code that a crate has copied, in its subfolders, but not of its test data.
    const files = (readdirSync(folder, { recursive: true }) as string[]).filter(
      (file) => LICENCE_NAME.test(basename(file)) && !/^(?:tests?|benches|examples)\//.test(file) && statSync(join(folder, file)).isFile(),
    );
    for (const file of files.sort()) add(file, readFileSync(join(folder, file), 'utf8'), `${name} ${version}`);
    // Some crates name a licence but do not contain its text. Their authors are in the list.
    if (files.length === 0) {
      const id = textOf(license);
      add(id, readFileSync(join(documents, 'licenses', `${id}.txt`), 'utf8'), `${name} ${version}`);
    }
  }
  return [...texts.values()];
}

/** The toolchain's licence page of its standard library, as text with each licence once. */
function standard(documents: string): string {
  const page = readFileSync(join(documents, 'COPYRIGHT-library.html'), 'utf8');
  const seen = new Map<string, string>();
  const once = page.replaceAll(/<code>([^<]*)<\/code><\/summary>\s*<pre>([\s\S]*?)<\/pre>/g, (_, file: string, text: string) => {
    const key = sameText(text);
    const known = seen.get(key);
    if (known !== undefined) return `${file}: as ${known} above`;
    seen.set(key, `text ${seen.size + 1}`);
    return `${file}, text ${seen.size}:\n${text}`;
  });
  // The crates' authors are listed below; download links are not part of their licences.
  const body = once.slice(once.indexOf('<body>')).replaceAll(/<p><b>URL:<\/b>.*<\/p>/g, '');
  const plain = body.replaceAll(/<[^>]+>/g, '');
  const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };
  const text = plain.replaceAll(/&(?:#(\d+)|(lt|gt|amp|quot));/g, (_, code, name) => (code === undefined ? named[name]! : String.fromCodePoint(Number(code))));
  const version = readFileSync(join(ROOT, 'rust-toolchain.toml'), 'utf8').match(/^channel = "(.+)"$/m)?.[1];
  if (version === undefined) throw new Error('rust-toolchain.toml has no version');
  return `The standard library of Rust ${version}\n\n${tidy(text)}`;
}
