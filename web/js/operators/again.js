// Retries requests that the system was too busy for.

import { Wait } from '../timing.js';

/** Maximum attempts of one request. */
const TRIES = 8;
const PASSING = ['overloaded', 'network', 'rate_limited'];

/** Runs an idempotent action, and retries it while the system is busy; `signal` also ends the waiting. */
export async function again(run, signal = undefined) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await run();
    } catch (error) {
      if (tried >= TRIES || !PASSING.includes(error.code)) throw error;
      await new Wait(signal).for(1000 * Math.max(1, error.retryAfterS ?? 0));
      signal?.throwIfAborted();
    }
  }
}
