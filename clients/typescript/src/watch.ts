// Follows a reservation to its final state.

import { ProblemError } from './errors.js';
import type { components } from './openapi.js';
import type { Push } from './push.js';
import { jittered, sleep } from './waiting.js';

/** A reservation; `status` distinguishes its states. */
export type Reservation = components['schemas']['Reservation'];

/** Used near the end of the payment window, when a change is imminent, in ms. */
const SOON_MS = 1_500;
/** Entries of a draw at the end may wait for days. */
const ENTERED_MS = 20_000;
/** With push, polling is only a safeguard. */
const PUSHED_MS = 30_000;
/** How long a reservation that is known to exist may be unknown. A failover of Redis may forget it until its order is written. */
const FORGOTTEN_MS = 60_000;
const FORGOTTEN_PAUSE_MS = 5_000;

/** Whether a reservation is final. An entry of a draw at the end is granted, but not drawn yet. */
export function isFinal(reservation: Reservation): boolean {
  if (reservation.status === 'granted') return reservation.award?.kind !== 'entered';
  return reservation.status !== 'queued' && reservation.status !== 'pending_payment';
}

/**
 * Yields a reservation as it is, and each time that it has changed, up to its final state. One that was `accepted`, or has been
 * seen, may be unknown for a minute before that is thrown.
 */
export async function* follow(
  id: string,
  get: () => Promise<Reservation>,
  push: Push | undefined,
  signal: AbortSignal,
  accepted: boolean,
): AsyncGenerator<Reservation, void, undefined> {
  let news = new AbortController();
  const unlisten = push?.listen((changed) => {
    // Messages sent while disconnected are lost, so a change of the connection also triggers a check.
    if (changed === undefined || changed === id) news.abort();
  });
  const pause = async (ms: number) => {
    await sleep(ms, AbortSignal.any([signal, news.signal])).catch(() => {});
    signal.throwIfAborted();
  };
  try {
    let forgottenAt: number | undefined;
    for (let last: string | undefined; ; ) {
      // What it hears from now on ends the next pause.
      news = new AbortController();
      let reservation: Reservation;
      try {
        reservation = await get();
      } catch (error) {
        if ((!accepted && last === undefined) || !(error instanceof ProblemError) || error.code !== 'unknown_reservation') throw error;
        forgottenAt ??= Date.now();
        if (Date.now() - forgottenAt >= FORGOTTEN_MS) throw error;
        await pause(jittered(FORGOTTEN_PAUSE_MS));
        continue;
      }
      forgottenAt = undefined;
      const shown = JSON.stringify({ ...reservation, poll_after_ms: 0 });
      if (shown !== last) yield reservation;
      last = shown;
      if (isFinal(reservation)) return;
      await pause(push?.up ? untilSure(reservation) : pace(reservation));
    }
  } finally {
    unlisten?.();
  }
}

/** The server's delay. The contract requires none of a granted reservation, which usually is final. */
const pace = (reservation: Reservation): number => ('poll_after_ms' in reservation && reservation.poll_after_ms) || ENTERED_MS;

/** Not beyond the end of the payment window, by the local clock. */
function untilSure(reservation: Reservation): number {
  const left = reservation.status === 'pending_payment' ? Date.parse(reservation.pay_by) - Date.now() : Infinity;
  return jittered(Math.max(Math.min(PUSHED_MS, left + SOON_MS), SOON_MS));
}
