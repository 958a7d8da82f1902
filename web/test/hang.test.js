import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
describe('planted', () => {
  test('never ends', async () => { await new Promise(() => {}); });
  test('has a child that ignores TERM', async () => {
    spawn('sh', ['-c', 'trap "" TERM; while :; do sleep 1; done # planted-child'], { stdio: 'ignore' });
    await new Promise(() => {});
  });
  test('goes on', () => { expect(1).toBe(1); });
});
describe('planted hook', () => {
  beforeAll(async () => { await new Promise(() => {}); });
  test('is not run', () => {});
});
describe('planted end', () => {
  afterAll(async () => { await new Promise(() => {}); });
  test('runs', () => {});
});
