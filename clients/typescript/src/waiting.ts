// Waiting.

/** The longest delay that timers accept. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Adds up to a quarter, so that clients with the same delay do not return at the same time. */
export const jittered = (ms: number): number => ms * (1 + Math.random() / 4);

/** Resolves after `ms`; rejects with the signal's reason when aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, stop) => {
    signal.throwIfAborted();
    const aborted = () => {
      clearTimeout(timer);
      stop(signal.reason);
    };
    const over = () => {
      signal.removeEventListener('abort', aborted);
      done();
    };
    const timer = setTimeout(over, Math.min(ms, MAX_TIMER_MS));
    signal.addEventListener('abort', aborted, { once: true });
  });
}

/** The milliseconds of a `Retry-After`, which is a number of seconds or a date (RFC 9110, 10.2.3). */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const until = Date.parse(text) - Date.now();
  return Number.isNaN(until) ? undefined : Math.max(until, 0);
}
