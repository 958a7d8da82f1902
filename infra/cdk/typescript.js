// Lets Node run TypeScript, which Node 20 does not do by itself: node --import ./typescript.js FILE

import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.setSourceMapsEnabled(true);
  register(import.meta.url);
}

/** Node calls it in another thread, for each module. */
export async function load(url, context, next) {
  if (!/^file:.*\.ts$/.test(url)) return next(url, context);
  const { default: ts } = await import('typescript');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true, inlineSourceMap: true };
  const fileName = fileURLToPath(url);
  const options = { fileName, compilerOptions, reportDiagnostics: true };
  const { outputText: source, diagnostics } = ts.transpileModule(readFileSync(fileName, 'utf8'), options);
  // The compiler repairs what it cannot parse, such as a file with conflict markers.
  if (diagnostics.length > 0) {
    const names = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => '\n' };
    throw new SyntaxError(ts.formatDiagnostics(diagnostics, names));
  }
  return { format: 'module', source, shortCircuit: true };
}
