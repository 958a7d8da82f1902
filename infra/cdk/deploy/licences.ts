import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.ts';

/** The licences of third-party code in the functions, which every build for AWS writes anew. */
export const THIRD_PARTY = 'THIRD-PARTY-LICENSES.txt';
/** The files in every archive besides the program. */
export const LICENCE_FILES = ['LICENSE', THIRD_PARTY];
/** The targets that functions are built for: AWS, and the machines of `make up`. */
export const TARGETS = ['aarch64-unknown-linux-gnu', 'x86_64-unknown-linux-gnu'];

/** Names of licence files in crates, which must be distributed with them. */
export const LICENCE_NAME = /^(?:un)?(?:licen[cs]e|copying|copyright|notice)(?!.*\.rs$)/i;

/** The line between two parts of the file, which no licence text contains. */
export const RULE = '='.repeat(100);
const CRATES = 'Crates';

/** What a program prints in the checkout's root. */
export function printed(program: string, args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${error?.message ?? stderr}`);
  return stdout;
}

/** Every crate that is compiled into a function, as `name version`: what cargo would link, without compiling. */
export function shippedCrates(): string[] {
  const found = new Set<string>();
  for (const target of TARGETS) {
    const args = ['tree', '--locked', '--edges', 'normal,no-proc-macro', '--target', target, '--prefix', 'none', '--format', '{p}'];
    // In the root it uses `default-members`, which are the functions.
    for (const line of printed('cargo', args).split('\n')) {
      // Our own crates have their path after the version.
      const crate = /^(\S+) v(\S+)(?: \(\*\))?$/.exec(line);
      if (crate !== null) found.add(`${crate[1]} ${crate[2]}`);
    }
  }
  return [...found].sort();
}

/** The version of Rust that functions are compiled with, including its standard library. */
export function rustVersion(): string {
  const version = readFileSync(join(ROOT, 'rust-toolchain.toml'), 'utf8').match(/^channel = "(.+)"$/m)?.[1];
  if (version === undefined) throw new Error('rust-toolchain.toml has no version');
  return version;
}

/** The title of the part about the standard library. */
export const standardLibrary = (version: string): string => `The standard library of Rust ${version}`;

/** What is missing or superfluous in a file of licences, one problem per line. */
export function problems(file: string, shipped: string[], rust: string): string[] {
  const parts = file.split(`\n${RULE}\n`).map((part) => part.trim());
  const listed = parts.find((part) => part.startsWith(`${CRATES}\n`))?.split('\n') ?? [];
  const named = new Set(listed.flatMap((line) => /^(\S+ \S+): /.exec(line)?.[1] ?? []));
  const licensed = new Set(parts.flatMap((part) => /^Text \d+: .*\nof (.*)$/m.exec(part)?.[1]?.split(', ') ?? []));
  const found: string[] = [];
  for (const crate of shipped) {
    if (!named.has(crate)) found.push(`${crate} is compiled into a function but not listed`);
    else if (!licensed.has(crate)) found.push(`${crate} is listed without the text of its licence`);
  }
  for (const crate of named) if (!shipped.includes(crate)) found.push(`${crate} is listed but in no function`);
  if (!parts.some((part) => part.startsWith(standardLibrary(rust)))) found.push(`the standard library of Rust ${rust} is missing`);
  return found;
}

/** Which licence is used for a crate without a text, by its file in Rust's documentation. */
export function textOf(license: string | null): string {
  const id = ['Apache-2.0', 'MIT'].find((each) => license !== null && !/\bAND\b/.test(license) && license.split(/ OR |\//).includes(each));
  if (id === undefined) throw new Error(`there is no text for ${license}`);
  return id;
}

/** A crate in the output of `cargo metadata`. */
export interface Crate {
  name: string;
  version: string;
  license: string | null;
  authors: string[];
  repository: string | null;
}

/** A licence text, and the crates that it applies to. */
export interface Text {
  title: string;
  text: string;
  crates: string[];
}

/** Renders the file. The same crates give the same file. */
export function render(crates: Crate[], texts: Text[], standard: string): string {
  const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const lines = crates
    .map(({ name, version, license, authors, repository }) => {
      const by = authors.length === 0 ? '' : `, by ${authors.join(', ')}`;
      return `${name} ${version}: ${license ?? 'see its text'}${by}${repository === null ? '' : `, ${repository}`}`;
    })
    .sort(byName);
  const ordered = texts
    .map(({ title, text, crates: of }) => ({ title, text: tidy(text), of: [...of].sort(byName).join(', ') }))
    .sort((a, b) => byName(`${a.of} ${a.title} ${a.text}`, `${b.of} ${b.title} ${b.text}`));
  const head = [
    'Third-party software in the functions of flash-sale',
    '',
    'Each function contains some of the crates below and the standard library of Rust. Every text appears once, with the crates that',
    'contain it; where a crate offers a choice of licences, any of them will do. For a crate without a text, that of its licence is taken from',
    "Rust's documentation. Our own code is licensed as the file LICENSE says.",
  ].join('\n');
  const numbered = ordered.map(({ title, text, of }, at) => `Text ${at + 1}: ${title}\nof ${of}\n\n${text}`);
  return `${[head, `${CRATES}\n\n${lines.join('\n')}`, ...numbered, standard].join(`\n\n${RULE}\n\n`)}\n`;
}

/** Removes spaces at the ends of lines and repeated empty lines. */
export function tidy(text: string): string {
  const lines = text.replaceAll('\r', '').split('\n').map((line) => line.trimEnd());
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n').replace(/^\n+|\n+$/g, '');
}

/** Treats texts that differ only in whitespace as the same. */
export const sameText = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ').trim();
