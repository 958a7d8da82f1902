// Work that would block the page.

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
