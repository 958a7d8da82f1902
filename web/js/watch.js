// Follows a reservation to its final state.

import { Push } from '../../clients/typescript/src/push.ts';
import { accepted } from './buying.js';
import { clock } from './clock.js';
import { config } from './config.js';
import { Problem, ask } from './http.js';
import { SignInCancelled, session } from './session.js';
import { Wait, backoff, jittered } from './timing.js';

const FIRST_POLL_MS = 500;
/** After two seconds in the queue, the order has usually been written. */
const ORDER_MS = 2_200;
/** After the end of the payment window, and after a payment: a change is imminent. */
const SOON_MS = 1_500;
/** With push, polling is only a safeguard. */
const PUSHED_MS = 30_000;
/** How long a reservation that was seen may be unknown. A failover of Redis may forget it until its order is written. */
const FORGOTTEN_MS = 60_000;
const FORGOTTEN_PAUSE_MS = 3_000;
const FINAL = new Set(['paid', 'granted', 'expired', 'cancelled', 'failed']);
/** Problems that a retry does not solve. */
const HOPELESS = new Set(['unknown_reservation', 'invalid_request', 'unknown_route', 'forbidden']);

/** Whether it takes part in a draw that is still to come. */
const isEntered = ({ award }) => award?.kind === 'entered';

/** Calls `change` after `reservation` or `trouble` has changed. */
export class Watch extends EventTarget {
  reservation = null;
  trouble = null;
  #id;
  #signal;
  /** Only an improvement: without push, or before it is connected, the page polls more often. */
  #push = null;
  #wait = new Wait();
  #polls = 0;
  #soon = false;
  #failures = 0;
  #forgottenAt = null;
  /** Something happened since the last look began: what it answers may be from before. */
  #stale = false;

  constructor(id, signal) {
    super();
    [this.#id, this.#signal] = [id, signal];
    // A reservation that was just received is shown without another request.
    if (accepted.delete(id)) this.reservation = { reservation_id: id, status: 'queued' };
    const now = () => this.#now();
    signal.addEventListener('abort', now, { once: true });
    window.addEventListener('online', now, { signal });
    document.addEventListener('visibilitychange', now, { signal });
    config().then(({ push_url: url }) => url && !signal.aborted && this.#listen(url), () => {});
  }

  #listen(url) {
    this.#push = new Push(url, async () => session.current.token, WebSocket);
    const unlisten = this.#push.listen((changed) => {
      // The connection has come or gone.
      if (changed === undefined) this.#polls = 0;
      if (changed === undefined || changed === this.#id) this.#now();
    });
    this.#signal.addEventListener('abort', unlisten, { once: true });
  }

  /** Checks now, and again soon. */
  soon() {
    this.#soon = true;
    this.#now();
  }

  /** Takes the answer of another request. */
  hear(reservation) {
    this.reservation = reservation;
    this.trouble = null;
    this.dispatchEvent(new Event('change'));
  }

  /** Polls until the reservation is final, or a retry cannot help. After a sign-in, it can be called again. */
  async run() {
    while (!this.#signal.aborted) {
      this.#stale = false;
      const over = await this.#get();
      if (over || this.#signal.aborted) return;
      if (!this.#stale) await this.#wait.for(this.#pause());
    }
  }

  async #get() {
    try {
      const reservation = await ask('GET', `/v1/reservations/${this.#id}`, { signal: this.#signal });
      this.#failures = 0;
      this.#forgottenAt = null;
      this.hear(reservation);
      return FINAL.has(reservation.status) && !isEntered(reservation);
    } catch (error) {
      if (this.#signal.aborted) return true;
      if (this.#isForgotten(error)) {
        // This is an answer, so earlier trouble is over.
        this.#failures = 0;
        this.hear(this.reservation);
        return false;
      }
      this.#forgottenAt = null;
      this.#failures += 1;
      this.trouble = error instanceof Problem || error instanceof SignInCancelled ? error : new Problem('internal');
      this.dispatchEvent(new Event('change'));
      return error instanceof SignInCancelled || HOPELESS.has(error.code);
    }
  }

  /** Whether it was seen, and may be known again soon. Until then it is shown as it was. */
  #isForgotten({ code }) {
    if (code !== 'unknown_reservation' || !this.reservation) return false;
    // Not by the server's clock, which is an estimate that each answer may correct.
    this.#forgottenAt ??= performance.now();
    return performance.now() - this.#forgottenAt < FORGOTTEN_MS;
  }

  #pause() {
    if (this.trouble) {
      return jittered(Math.max(backoff(this.#failures, FIRST_POLL_MS), (this.trouble.retryAfterS ?? 0) * 1000));
    }
    if (this.#forgottenAt !== null) return jittered(FORGOTTEN_PAUSE_MS);
    const { status, pay_by: payBy, poll_after_ms: paceMs = FIRST_POLL_MS } = this.reservation;
    if (status === 'queued') {
      this.#polls += 1;
      if (!this.#push?.up) return jittered(paceMs);
      return this.#polls === 1 ? ORDER_MS : PUSHED_MS;
    }
    if (isEntered(this.reservation)) return this.#push?.up ? PUSHED_MS : jittered(paceMs);
    const left = Date.parse(payBy) - clock.now();
    if (this.#soon || left <= 0) return jittered(SOON_MS);
    // The end of the payment window is checked in any case.
    return Math.min(this.#push?.up ? PUSHED_MS : jittered(paceMs), left + SOON_MS);
  }

  #now() {
    this.#stale = true;
    this.#wait.nudge();
  }
}
