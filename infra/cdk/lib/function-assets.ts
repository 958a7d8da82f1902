import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from './functions.ts';
import { type Architecture, UsageError } from './settings.ts';

// The ELF specification: the header begins with four magic bytes, the class (2 is 64 bits) and the byte order (1 is least
// significant first). At 18 is `e_machine`.
const ELF_64 = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const MACHINE_AT = 18;
const HEADER_BYTES = 20;
const MACHINES: Record<Architecture, number> = { x86_64: 0x3e, arm64: 0xb7 };

/** The first bytes of a program for `architecture`. */
export function elfHeader(architecture: Architecture): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  ELF_64.copy(header);
  header.writeUInt16LE(MACHINES[architecture], MACHINE_AT);
  return header;
}

/** What is wrong with a program that begins with `header` and should run on `architecture`, if anything. */
function elfProblem(header: Buffer, architecture: Architecture): string | undefined {
  if (header.length < HEADER_BYTES || !header.subarray(0, ELF_64.length).equals(ELF_64)) {
    return `is not an ELF program of 64 bits for ${architecture}`;
  }
  const machine = header.readUInt16LE(MACHINE_AT);
  if (machine === MACHINES[architecture]) return undefined;
  const found = Object.entries(MACHINES).find(([, each]) => each === machine)?.[0];
  return `is built for ${found ?? `a machine of type 0x${machine.toString(16)}`} but the settings require ${architecture}`;
}

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
  const start = Buffer.alloc(HEADER_BYTES);
  const opened = openSync(file, 'r');
  try {
    return start.subarray(0, readSync(opened, start, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(opened);
  }
}
