// The proof of work in a Web Worker, for `workerSolver`.

import { solve, type Work } from './solver.js';

const worker = globalThis as unknown as {
  onmessage: ((event: { data: Work }) => void) | null;
  postMessage(answer: string): void;
};

worker.onmessage = async ({ data }) => {
  worker.postMessage(await solve(data, new AbortController().signal));
};
