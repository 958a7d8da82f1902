// Follows a reservation until nothing more happens to it.

import { accepted } from './buying.js';
import { clock } from './clock.js';
import { Problem, ask } from './http.js';
import { push } from './push.js';
import { SignInCancelled } from './session.js';
import { Wait, jittered } from './timing.js';

const FIRST_LOOK_MS = 500;
/** Whoever looks after two seconds in the queue has the order written. */
const ORDER_MS = 2_200;
/** After the window's end, and after a payment: the answer changes soon. */
const SOON_MS = 1_500;
/** With push one only asks to be sure. */
const PUSHED_MS = 30_000;
const LONGEST_TROUBLE_MS = 15_000;
const FINAL = new Set(['paid', 'granted', 'expired', 'cancelled', 'failed']);
/** Problems that asking again does not mend. */
const HOPELESS = new Set(['unknown_reservation', 'invalid_request', 'unknown_route', 'denied']);

/** Whether it takes part in a draw that is still to come. */
const isEntered = ({ award }) => award?.kind === 'entered';

/** `reservation` and `trouble` change, and then `change` is told. */
export class Watch extends EventTarget {
  reservation = null;
  trouble = null;
  #id;
  #signal;
  #wait = new Wait();
  #looks = 0;
  #soon = false;
  #failures = 0;
  /** Something happened since the last look began: what it answers may be from before. */
  #stale = false;

  constructor(id, signal) {
    super();
    this.#id = id;
    this.#signal = signal;
    // What was answered a moment ago need not be asked for before it is shown.
    if (accepted.delete(id)) this.reservation = { reservation_id: id, status: 'queued' };
    const now = () => this.#now();
    signal.addEventListener('abort', now, { once: true });
    window.addEventListener('online', now, { signal });
    document.addEventListener('visibilitychange', now, { signal });
    push.addEventListener('news', (event) => event.reservationId === id && now(), { signal });
    push.addEventListener('change', () => this.#restart(), { signal });
  }

  /** Looks at once, and again soon. */
  soon() {
    this.#soon = true;
    this.#now();
  }

  /** What another request answered. */
  hear(reservation) {
    this.reservation = reservation;
    this.trouble = null;
    this.dispatchEvent(new Event('change'));
  }

  /** Signed out is the only end that can be left: by starting again. */
  async run() {
    while (!this.#signal.aborted) {
      this.#stale = false;
      const over = await this.#look();
      if (over || this.#signal.aborted) return;
      if (!this.#stale) await this.#wait.for(this.#pause());
    }
  }

  async #look() {
    try {
      const reservation = await ask('GET', `/v1/reservations/${this.#id}`, { signal: this.#signal });
      this.#failures = 0;
      this.hear(reservation);
      return FINAL.has(reservation.status) && !isEntered(reservation);
    } catch (error) {
      if (this.#signal.aborted) return true;
      this.#failures += 1;
      this.trouble = error instanceof Problem || error instanceof SignInCancelled ? error : new Problem('internal');
      this.dispatchEvent(new Event('change'));
      return error instanceof SignInCancelled || HOPELESS.has(error.code);
    }
  }

  #pause() {
    if (this.trouble) {
      const backoff = Math.min(FIRST_LOOK_MS * 2 ** this.#failures, LONGEST_TROUBLE_MS);
      return jittered(Math.max(backoff, (this.trouble.retryAfterS ?? 0) * 1000));
    }
    const { status, pay_by: payBy, poll_after_ms: paceMs = FIRST_LOOK_MS } = this.reservation;
    if (status === 'queued') {
      this.#looks += 1;
      if (!push.up) return jittered(paceMs);
      return this.#looks === 1 ? ORDER_MS : PUSHED_MS;
    }
    if (isEntered(this.reservation)) return push.up ? PUSHED_MS : jittered(paceMs);
    const left = Date.parse(payBy) - clock.now();
    if (this.#soon || left <= 0) return jittered(SOON_MS);
    // The end of the window is looked at in any case.
    return Math.min(push.up ? PUSHED_MS : jittered(paceMs), left + SOON_MS);
  }

  #restart() {
    this.#looks = 0;
    this.#now();
  }

  #now() {
    this.#stale = true;
    this.#wait.nudge();
  }
}
