// The server's clock. The client's own may be wrong by an hour, so nothing here reads `Date`.

/** `Age` and `Date` are in whole seconds: what they say is up to a second older than it looks. */
const WHOLE_SECOND_MS = 1000;
/** Oscillators drift apart by some 50 µs a second: after this time a worse sample is worth more than an old one. */
const SAMPLE_LIFE_MS = 600_000;

export class ServerClock {
  #best = null;
  #ticks;

  constructor(ticks = () => performance.now()) {
    this.#ticks = ticks;
  }

  /**
   * Takes what an answer says. `sentAt` and `heardAt` are of the same ticks as the clock's.
   * The surest sample wins: the one with the smallest round trip, where one that was kept by a cache, or is a `Date`
   * header (`coarse`), counts as a second worse.
   */
  sample({ sentAt, heardAt, serverTime, age = null, coarse = false }) {
    const said = Date.parse(serverTime);
    if (Number.isNaN(said)) return;
    const slack = heardAt - sentAt + (age !== null || coarse ? WHOLE_SECOND_MS : 0);
    const offset = said + (Number(age) || 0) * 1000 + slack / 2 - heardAt;
    const best = this.#best;
    if (best === null || slack <= best.slack || heardAt - best.heardAt > SAMPLE_LIFE_MS) {
      this.#best = { slack, offset, heardAt };
    }
  }

  /** A sleeping machine may stop the ticks, so what was measured before is worth nothing. */
  forget() {
    if (this.#best !== null) this.#best = { ...this.#best, slack: Infinity };
  }

  get known() {
    return this.#best !== null;
  }

  /** Milliseconds since the Unix epoch by the server's clock. */
  now() {
    return this.#ticks() + (this.#best?.offset ?? performance.timeOrigin);
  }
}

export const clock = new ServerClock();
