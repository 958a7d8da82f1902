// Intervals and timers.

import { MAX_TIMER_MS, jittered } from '../../clients/typescript/src/waiting.ts';

export { MAX_TIMER_MS, jittered };

/** How often a sale's page loads its card, in ms. A crowd's requests cost, and most find nothing new. */
export const REFRESH_MS = 10_000;
/** Before the opening, the countdown runs by the clock, so a request only finds a postponement or a pause. */
export const REFRESH_EARLY_MS = 30_000;
export const REFRESH_SOON_MS = 10_000;
/** From this time before the opening, it is "soon". */
export const EARLY_MS = 120_000;
/** While the page waits for a change that nothing else reports: the end of a pause, a drop, the loading of a sale. */
export const REFRESH_CHANGE_MS = 3_000;

/** A wait that `nudge` or the signal can end early. The next wait starts anew. */
export class Wait {
  #end = null;
  #signal;

  constructor(signal) {
    this.#signal = signal;
    signal?.addEventListener('abort', () => this.nudge(), { once: true });
  }

  async for(ms) {
    if (this.#signal?.aborted) return;
    await new Promise((done) => {
      const timer = setTimeout(() => this.nudge(), Math.min(ms, MAX_TIMER_MS));
      this.#end = () => {
        clearTimeout(timer);
        this.#end = null;
        done();
      };
    });
  }

  nudge() {
    this.#end?.();
  }
}

/** Pauses between retries. */
export const FIRST_RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 15_000;
export const backoff = (failures, first = FIRST_RETRY_MS) => Math.min(first * 2 ** failures, LONGEST_RETRY_MS);

/** Calls `tick` now and at every whole second of `left()`, until `signal` is aborted. */
export function everySecond(left, tick, signal) {
  let timer = 0;
  const run = () => {
    if (signal.aborted) return;
    const ms = left();
    tick(ms);
    // Slightly after the end of a second, so that the same one is not shown twice.
    const rest = ms > 0 ? ms % 1000 : 1000;
    timer = setTimeout(run, Math.max(rest, 20) + 5);
  };
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  run();
}

/** Calls `load` now and every `ms()` while the page is visible, and at once when it is visible again. */
export async function refreshing(load, ms, signal) {
  const wait = new Wait(signal);
  const seen = () => {
    if (!document.hidden) wait.nudge();
  };
  document.addEventListener('visibilitychange', seen, { signal });
  window.addEventListener('online', seen, { signal });
  while (!signal.aborted) {
    if (!document.hidden) await load();
    await wait.for(jittered(ms()));
  }
}
