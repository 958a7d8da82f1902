import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { ELF_HEADER_BYTES, elfProblem } from './elf.ts';
import type { FunctionName } from './functions.ts';
import { type Architecture, UsageError } from './settings.ts';

/** The built function in `<root>/NAME/bootstrap`. CDK never compiles anything itself. */
export function builtFunction(root: string, name: FunctionName, architecture: Architecture): lambda.Code {
  const folder = join(root, name);
  const bootstrap = join(folder, 'bootstrap');
  const command = architecture === 'arm64' ? './flash build-aws' : 'make build';
  if (!existsSync(bootstrap)) {
    throw new UsageError(`The function ${name} is not built: no bootstrap in ${folder}. Run \`${command}\` first.`);
  }
  // Lambda accepts any file, and would only fail when starting a process.
  const problem = elfProblem(startOf(bootstrap), architecture);
  if (problem !== undefined) {
    throw new UsageError(`The function ${name} ${problem}: ${bootstrap}. Run \`${command}\` first.`);
  }
  // `make build` archives what it builds; an archive with another time belongs to another program.
  const archive = join(folder, 'bootstrap.zip');
  const archived = statSync(archive, { throwIfNoEntry: false })?.mtimeMs === statSync(bootstrap).mtimeMs;
  return archived ? lambda.Code.fromAsset(archive) : lambda.Code.fromAsset(folder, { exclude: ['*.zip'] });
}

function startOf(file: string): Buffer {
  const start = Buffer.alloc(ELF_HEADER_BYTES);
  const opened = openSync(file, 'r');
  try {
    return start.subarray(0, readSync(opened, start, 0, ELF_HEADER_BYTES, 0));
  } finally {
    closeSync(opened);
  }
}
