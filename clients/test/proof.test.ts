// The proof of work, and the worker that does it.

import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type SolverWorker, solve, workerSolver } from '../typescript/src/index.ts';
import { leadingZeros, message, sha256 } from '../typescript/src/sha256.js';
import { passing } from './answers.js';

const CHALLENGE = '0198f0b2a4c57d1e8f00aabbccddeeff';

const zeroBits = (text: string) => Math.clz32(createHash('sha256').update(text).digest().readUInt32BE());
const hex = (words: Int32Array) => Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
const reference = (text: string) => createHash('sha256').update(text).digest('hex');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('SHA-256 agrees with another implementation at every length, also when a buffer is reused', () => {
  const characters = (length: number) => 'flash-sale'.repeat(13).slice(0, length);
  for (const prefix of [0, 1, 33, 64, 100]) {
    const text = message(characters(prefix));
    for (let end = 128 - prefix; end >= 0; end -= 1) {
      expect(hex(sha256(text, characters(end)))).toBe(reference(characters(prefix) + characters(end)));
    }
  }
});

test('SHA-256 refuses more than its buffer holds', () => {
  expect(hex(sha256(message('a'), 'b'.repeat(182)))).toBe(reference(`a${'b'.repeat(182)}`));
  for (const prefix of ['a', 'a'.repeat(300)]) expect(() => sha256(message(prefix), 'b'.repeat(183))).toThrow('at most 183');
});

test('accepts the same proof as the server', () => {
  // The same as in shared/pass/src/challenge.rs.
  expect(leadingZeros(sha256(message('00000000000000000000000000000007:'), '2868557'))).toBeGreaterThanOrEqual(20);
});

test.each([1, 8, 14])('%i bits', async (bits) => {
  const answer = await passing(solve({ challengeId: CHALLENGE, bits }, new AbortController().signal));
  expect(zeroBits(`${CHALLENGE}:${answer}`)).toBeGreaterThanOrEqual(bits);
  expect(answer.length).toBeLessThanOrEqual(64);
});

test('a worker is asked, and ended', async () => {
  const started: SolverWorker[] = [];
  const start = (reply: (worker: SolverWorker) => void) => () => {
    const worker: SolverWorker = { onmessage: null, onerror: null, postMessage: vi.fn(() => reply(worker)), terminate: vi.fn() };
    started.push(worker);
    return worker;
  };
  const work = { challengeId: CHALLENGE, bits: 20 };
  const { signal } = new AbortController();
  const answers = start((worker) => worker.onmessage?.({ data: '42' } as never));
  expect(await workerSolver(answers)(work, signal)).toBe('42');
  const fails = start((worker) => worker.onerror?.({ message: 'no such file' } as never));
  await expect(workerSolver(fails)(work, signal)).rejects.toThrow('no such file');
  const stop = new AbortController();
  const stopped = workerSolver(start(() => {}))(work, stop.signal);
  stop.abort(new Error('enough'));
  await expect(stopped).rejects.toThrow('enough');
  expect(started).toHaveLength(3);
  for (const { postMessage, terminate } of started) {
    expect(postMessage).toHaveBeenCalledWith(work);
    expect(terminate).toHaveBeenCalled();
  }
});
