import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Crate, LICENCE_NAME, printed, problems, RULE, render, rustVersion, sameText, shippedCrates, standardLibrary, TARGETS, type Text, THIRD_PARTY, textOf, tidy } from './licences.ts';
import { ROOT } from './paths.ts';

type Unpacked = Crate & { manifest_path: string };

/** Writes THIRD-PARTY-LICENSES.txt from the crates' own licence files, and from the toolchain's page about its standard library. */
export function writeLicences(): void {
  const documents = join(printed('rustc', ['--print', 'sysroot']).trim(), 'share/doc/rust');
  const shipped = shippedCrates();
  const platforms = TARGETS.flatMap((target) => ['--filter-platform', target]);
  const { packages }: { packages: Unpacked[] } = JSON.parse(printed('cargo', ['metadata', '--locked', '--format-version', '1', ...platforms]));
  const crates = packages.filter(({ name, version }) => shipped.includes(`${name} ${version}`));
  const texts = textsOf(crates, documents);
  const rust = rustVersion();
  const file = render(crates, texts, standard(documents, rust));
  const wrong = problems(file, shipped, rust);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  if (file.split(RULE).length !== texts.length + 3) throw new Error('a text contains the separator line');
  writeFileSync(join(ROOT, THIRD_PARTY), file);
}

function textsOf(crates: Unpacked[], documents: string): Text[] {
  const texts = new Map<string, Text>();
  const add = (title: string, text: string, crate: string): void => {
    const key = sameText(text);
    const known = texts.get(key) ?? { title, text, crates: [] };
    texts.set(key, { ...known, crates: [...new Set([...known.crates, crate])] });
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
function standard(documents: string, version: string): string {
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
  return `${standardLibrary(version)}\n\n${tidy(text)}`;
}
