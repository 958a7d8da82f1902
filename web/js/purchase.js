// What is kept of a purchase in this tab, so that a reload or a retry is the same request.

/** The attempt of a user at one round of a sale. */
export class Purchase {
  #place;

  constructor(user, saleId, round) {
    this.#place = `purchase:${user}:${saleId}.${round}`;
    let kept = null;
    try {
      kept = JSON.parse(sessionStorage.getItem(this.#place));
    } catch {
      // Not ours: begin anew.
    }
    /** Names the attempt to the server. */
    this.key = kept?.key ?? newKey();
    /** `{path, until}`: the way in, and until when it is open by the server's clock. */
    this.pass = kept?.pass ?? null;
    /** The reservation was asked for, and no answer says that there is none. */
    this.sent = kept?.sent ?? false;
    this.reservationId = kept?.reservationId ?? null;
    /** Reservations of this round that have not ended, as far as this tab knows. */
    this.live = kept?.live ?? (this.reservationId ? [this.reservationId] : []);
  }

  save(changes) {
    Object.assign(this, changes);
    const { key, pass, sent, reservationId, live } = this;
    sessionStorage.setItem(this.#place, JSON.stringify({ key, pass, sent, reservationId, live }));
  }

  /** These are the user's, too. */
  own(ids) {
    const live = [...new Set([...this.live, ...ids])];
    this.save({ live, reservationId: this.reservationId ?? live.at(-1) ?? null });
  }

  /** This one has ended: it counts no more. */
  forget(id) {
    const live = this.live.filter((one) => one !== id);
    if (this.reservationId === id) this.renew();
    this.save({ live, reservationId: this.reservationId ?? live.at(-1) ?? null });
  }

  /** Another attempt. Its key is another, or the server would answer with the last one's reservation. */
  renew() {
    this.save({ key: newKey(), pass: null, sent: false, reservationId: null });
  }
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
