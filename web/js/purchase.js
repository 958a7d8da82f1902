// The state of a purchase in this browser, so that a reload, a retry and another tab repeat the same request.

const PREFIX = 'purchase:';
/** Longer than an order waits for its payment, or than a round lasts. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** The stored value; null if there is none, or if it is unreadable. */
function kept(place) {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

function forgetOldOnes() {
  for (const place of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
    if (!(Date.now() - kept(place)?.at < KEPT_MS)) localStorage.removeItem(place);
  }
}

/** A user's attempt to buy in one round of a sale. */
export class Purchase {
  #place;

  constructor(user, saleId, round) {
    this.#place = `${PREFIX}${user}:${saleId}.${round}`;
    const before = kept(this.#place);
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
    forgetOldOnes();
    localStorage.setItem(this.#place, JSON.stringify({ key, pass, sent, reservationId, live, at: Date.now() }));
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

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
