// Waiting.

/** The longest delay that timers accept. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Adds up to a quarter, so that clients with the same delay do not return at the same time. */
export function jittered(ms: number): number {
  return ms * (1 + Math.random() / 4);
}

/** Resolves after `ms`; rejects with the signal's reason when aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await new Wait(signal).for(ms);
  signal.throwIfAborted();
}

/** A wait that `nudge` or the signal can end early. A nudge while nobody waits ends the next wait at once. */
export class Wait {
  readonly #signal: AbortSignal;
  #nudged = false;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async for(ms: number): Promise<void> {
    if (!this.#nudged && !this.#signal.aborted) {
      await new Promise<void>((done) => {
        const end = () => {
          clearTimeout(timer);
          this.#signal.removeEventListener('abort', end);
          this.#end = undefined;
          done();
        };
        const timer = setTimeout(end, Math.min(ms, MAX_TIMER_MS));
        this.#signal.addEventListener('abort', end, { once: true });
        this.#end = end;
      });
    }
    this.#nudged = false;
  }

  nudge(): void {
    this.#nudged = true;
    this.#end?.();
  }
}

/** The milliseconds of a `Retry-After`, which is a number of seconds or a date (RFC 9110, 10.2.3). */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const until = Date.parse(text) - Date.now();
  return Number.isNaN(until) ? undefined : Math.max(until, 0);
}
