// Following a reservation until nothing more happens to it.

import type { components } from './openapi.js';
import type { Push } from './push.js';
import { jittered, Wait } from './waiting.js';

/** How a reservation stands, told apart by `status`. */
export type Reservation = components['schemas']['Reservation'];

const FIRST_LOOK_MS = 500;
const LOOK_GROWTH = 1.5;
const LONGEST_QUEUED_MS = 5_000;
const PENDING_MS = 10_000;
/** When the payment window ends the answer changes soon. */
const SOON_MS = 1_500;
/** An entry of a draw at the end may wait for days. */
const ENTERED_MS = 20_000;
/** With push it asks only to be sure. */
const PUSHED_MS = 30_000;

/** Whether nothing more happens to a reservation. An entry of a draw at the end is granted, and still to be drawn. */
export function isFinal(reservation: Reservation): boolean {
  switch (reservation.status) {
    case 'queued':
    case 'pending_payment':
      return false;
    case 'granted':
      return reservation.award?.kind !== 'entered';
    default:
      return true;
  }
}

/** Yields a reservation as it is, and each time that it has changed, up to its final state. */
export async function* follow(
  id: string,
  look: () => Promise<Reservation>,
  push: Push | undefined,
  signal: AbortSignal,
): AsyncGenerator<Reservation, void, undefined> {
  const wait = new Wait(signal);
  let looks = 0;
  const unlisten = push?.listen((news) => {
    if (news.type === 'reservation' && news.reservationId !== id) return;
    looks = 0;
    // What was sent while there was no connection is gone, so `up` is a reason to look as well.
    wait.nudge();
  });
  try {
    for (let last: string | undefined; ; ) {
      const reservation = await look();
      const shown = JSON.stringify({ ...reservation, poll_after_ms: 0 });
      if (shown !== last) yield reservation;
      last = shown;
      if (isFinal(reservation)) return;
      looks += 1;
      await wait.for(push?.up ? untilSure(reservation) : pause(reservation, looks));
      signal.throwIfAborted();
    }
  } finally {
    unlisten?.();
  }
}

/** As long as the server says. One of a version that does not say is asked less and less often. */
function pause(reservation: Reservation, looks: number): number {
  if ('poll_after_ms' in reservation && reservation.poll_after_ms) return reservation.poll_after_ms;
  if (reservation.status === 'queued') {
    return jittered(Math.min(FIRST_LOOK_MS * LOOK_GROWTH ** (looks - 1), LONGEST_QUEUED_MS));
  }
  return jittered(reservation.status === 'pending_payment' ? beforeItLapses(reservation.pay_by, PENDING_MS) : ENTERED_MS);
}

function untilSure(reservation: Reservation): number {
  return jittered(reservation.status === 'pending_payment' ? beforeItLapses(reservation.pay_by, PUSHED_MS) : PUSHED_MS);
}

/** No longer than to the end of the payment window, by this machine's clock. */
function beforeItLapses(payBy: string, ms: number): number {
  return Math.max(Math.min(ms, Date.parse(payBy) - Date.now() + SOON_MS), SOON_MS);
}
