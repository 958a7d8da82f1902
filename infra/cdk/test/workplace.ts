import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    workplace: string;
  }
}

/** A folder for everything that a test run writes, deleted afterwards. */
export default function setup(project: TestProject): () => void {
  const workplace = mkdtempSync(join(tmpdir(), 'flash-sale-cdk-'));
  project.provide('workplace', workplace);
  return () => rmSync(workplace, { recursive: true, force: true });
}
