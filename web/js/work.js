// The proof of work, in a worker.

/** Solves `{id, bits}`. `progress` receives a number that reaches one only at the end. */
export function solve({ id, bits }, progress, signal) {
  return new Promise((done, stop) => {
    const worker = new Worker(new URL('./work-worker.js', import.meta.url), { type: 'module' });
    const end = (how, value) => {
      worker.terminate();
      how(value);
    };
    signal.addEventListener('abort', () => end(stop, signal.reason), { once: true });
    worker.onerror = () => end(stop, new Error('the worker failed'));
    worker.onmessage = ({ data }) => {
      if (data.answer !== undefined) end(done, data.answer);
      else progress(1 - Math.exp(-data.tries / 2 ** bits));
    };
    worker.postMessage({ id, bits });
  });
}
