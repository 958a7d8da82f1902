// The proof of work: a text for which the SHA-256 of `CHALLENGE_ID:TEXT` begins with a given number of zero bits.

import { leadingZeros, message, sha256 } from './sha256.js';

/** The task. */
export interface Work {
  challengeId: string;
  /** The number of zero bits that the digest must begin with. */
  bits: number;
}

/** Finds the answer. Rejects with the signal's reason when aborted. */
export type Solver = (work: Work, signal: AbortSignal) => Promise<string>;

/** Attempts between two checks of the time and the signal. */
const TRIES_AT_ONCE = 1_000;
/** Maximum time for which the solver blocks the thread, in ms. */
const SLICE_MS = 20;

/** Finds the answer on the calling thread, in slices of 20 ms. {@link workerSolver} keeps a page smoother. */
export const solve: Solver = async ({ challengeId, bits }, signal) => {
  const text = message(`${challengeId}:`);
  for (let tries = 0; ; ) {
    signal.throwIfAborted();
    const until = performance.now() + SLICE_MS;
    do {
      const end = tries + TRIES_AT_ONCE;
      for (; tries < end; tries += 1) {
        if (leadingZeros(sha256(text, String(tries))) >= bits) return String(tries);
      }
    } while (performance.now() < until);
    await new Promise((done) => {
      setTimeout(done);
    });
  }
};

/** The part of a Web Worker that a solver uses. */
export interface SolverWorker {
  postMessage(work: Work): void;
  terminate(): void;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

/**
 * A solver in its own Web Worker:
 * `workerSolver(() => new Worker(new URL('flash-sale-client/worker', import.meta.url), { type: 'module' }))`.
 */
export function workerSolver(start: () => SolverWorker): Solver {
  return async (work, signal) => {
    signal.throwIfAborted();
    const worker = start();
    const ended = new AbortController();
    try {
      return await new Promise<string>((done, stop) => {
        signal.addEventListener('abort', () => stop(signal.reason), { signal: ended.signal });
        worker.onmessage = ({ data }: { data: unknown }) => done(String(data));
        worker.onerror = ({ message }: { message?: string }) => stop(new Error(`the worker failed: ${message}`));
        worker.postMessage(work);
      });
    } finally {
      ended.abort();
      worker.terminate();
    }
  };
}
