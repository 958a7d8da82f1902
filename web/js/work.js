// The proof of work, in a worker.

import { inWorker } from './worker.js';

/** Solves `{id, bits}`. `progress` receives a number that reaches one only at the end. */
export function solve({ id, bits }, progress, signal) {
  const worker = new Worker(new URL('./work-worker.js', import.meta.url), { type: 'module' });
  return inWorker(worker, { id, bits }, signal, ({ answer, tries }) => {
    if (answer === undefined) progress(1 - Math.exp(-tries / 2 ** bits));
    return answer;
  });
}
