import { vi } from 'vitest';

/** The real one, whatever time a test pretends. */
const soon = setImmediate;

/** Lets pretended time pass, this many milliseconds at a time, until the work is done. What takes real time, such as a hash, is waited for. */
export async function passing<T>(work: Promise<T>, stepMs = 50): Promise<T> {
  let done = false;
  const end = () => {
    done = true;
  };
  work.then(end, end);
  while (!done) {
    if (vi.getTimerCount() > 0) await vi.advanceTimersByTimeAsync(stepMs);
    await new Promise<void>((resolve) => {
      soon(resolve);
    });
  }
  return work;
}
