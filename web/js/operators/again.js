// Asking again what the system was too busy for.

/** How often one request is sent. */
const TRIES = 8;
const PASSING = ['overloaded', 'network', 'rate_limited'];

/** Runs what does the same when it runs twice, again and again while the system is busy; `signal` ends the waiting too. */
export async function again(run, signal = undefined) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await run();
    } catch (error) {
      if (tried >= TRIES || !PASSING.includes(error.code)) throw error;
      await pause(1000 * Math.max(1, error.retryAfterS ?? 0), signal);
    }
  }
}

function pause(ms, signal) {
  return new Promise((go, stop) => {
    const timer = setTimeout(go, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      stop(signal.reason);
    }, { once: true });
    if (signal?.aborted) stop(signal.reason);
  });
}
