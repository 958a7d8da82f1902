// The state of a purchase in this browser, so that a reload, a retry and another tab repeat the same request.

import { store, stored } from './kept.js';

const PREFIX = 'purchase:';

/** A user's attempt to buy in one round of a sale. */
export class Purchase {
  #place;

  constructor(user, saleId, round) {
    this.#place = `${PREFIX}${user}:${saleId}.${round}`;
    const before = stored(this.#place);
    /** Identifies the attempt to the server. */
    this.key = before?.key ?? newKey();
    /** `{path, until}`: the way in, and when it closes by the server's clock. */
    this.pass = before?.pass ?? null;
    /** The reservation was requested, and no answer says that there is none. */
    this.sent = before?.sent ?? false;
    this.reservationId = before?.reservationId ?? null;
    /** Reservations of this round that have not ended, as far as this browser knows. */
    this.live = before?.live ?? [];
  }

  save(changes) {
    Object.assign(this, changes);
    const { key, pass, sent, reservationId, live } = this;
    store(PREFIX, this.#place, { key, pass, sent, reservationId, live });
  }

  /** Adds reservations of the user. */
  own(ids) {
    const live = [...new Set([...this.live, ...ids])];
    this.save({ live, reservationId: this.reservationId ?? live.at(-1) ?? null });
  }

  /** Sets the user's reservations: those that have ended no longer count. */
  has(ids) {
    if (this.reservationId && !ids.includes(this.reservationId)) this.renew();
    this.save({ live: ids, reservationId: this.reservationId ?? ids.at(-1) ?? null });
  }

  /** Starts another attempt with a new key: for the old one, the server would answer with the last reservation. */
  renew() {
    this.save({ key: newKey(), pass: null, sent: false, reservationId: null });
  }
}

const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
