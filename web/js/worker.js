// Work that would block the page.

/** Solves a proof of work: `{id, bits}`. `progress` receives a number that reaches one only at the end. */
export function solve({ id, bits }, progress, signal) {
  const worker = new Worker(new URL('./work-worker.js', import.meta.url), { type: 'module' });
  return inWorker(worker, { id, bits }, signal, ({ answer, tries }) => {
    if (answer === undefined) progress(1 - Math.exp(-tries / 2 ** bits));
    return answer;
  });
}

/** Gives a worker its task, and resolves with what `answer` makes of a message, once that is not undefined. */
export function inWorker(worker, task, signal, answer) {
  return new Promise((done, stop) => {
    const end = (how, value) => {
      worker.terminate();
      how(value);
    };
    signal.addEventListener('abort', () => end(stop, signal.reason), { once: true });
    worker.onerror = () => end(stop, new Error('the worker failed'));
    worker.onmessage = ({ data }) => {
      const found = answer(data);
      if (found !== undefined) end(done, found);
    };
    worker.postMessage(task);
  });
}
