import type { Architecture } from './settings.ts';

// The ELF specification: the header begins with four magic bytes, the class (2 is 64 bits) and the byte order (1 is least
// significant first). At 18 is `e_machine`.
const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const CLASS_AT = 4;
const BITS_64 = 2;
const ORDER_AT = 5;
const LITTLE_ENDIAN = 1;
const MACHINE_AT = 18;
const MACHINES: Record<Architecture, number> = { x86_64: 0x3e, arm64: 0xb7 };

/** How many bytes of a file have to be read. */
export const ELF_HEADER_BYTES = 20;

/** The first bytes of a program for `architecture`. */
export function elfHeader(architecture: Architecture): Buffer {
  const header = Buffer.alloc(ELF_HEADER_BYTES);
  MAGIC.copy(header);
  header[CLASS_AT] = BITS_64;
  header[ORDER_AT] = LITTLE_ENDIAN;
  header.writeUInt16LE(MACHINES[architecture], MACHINE_AT);
  return header;
}

/** What is wrong with a program that begins with `header` and should run on `architecture`, if anything. */
export function elfProblem(header: Buffer, architecture: Architecture): string | undefined {
  const elf64 = header.subarray(0, MAGIC.length).equals(MAGIC) && header[CLASS_AT] === BITS_64;
  if (header.length < ELF_HEADER_BYTES || !elf64 || header[ORDER_AT] !== LITTLE_ENDIAN) {
    return `is not an ELF program of 64 bits for ${architecture}`;
  }
  const machine = header.readUInt16LE(MACHINE_AT);
  if (machine === MACHINES[architecture]) return undefined;
  const found = Object.entries(MACHINES).find(([, each]) => each === machine)?.[0];
  return `is built for ${found ?? `a machine of type 0x${machine.toString(16)}`} but the settings require ${architecture}`;
}
