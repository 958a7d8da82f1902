// The server's clock. The client's own may be wrong by an hour, so nothing here reads `Date`.

/** `Age` and `Date` are in whole seconds, so their error is up to one second. */
const WHOLE_SECOND_MS = 1000;
/** Oscillators drift apart by about 50 µs per second: after this time a less precise new sample is better than an old one. */
const SAMPLE_LIFE_MS = 600_000;

export class ServerClock {
  #best = null;
  #ticks;

  constructor(ticks = () => performance.now()) {
    this.#ticks = ticks;
  }

  /**
   * Takes the time from an answer. `sentAt` and `heardAt` use the same ticks as the clock.
   * The sample with the smallest round trip wins. One from a cache or from a `Date` header (`coarse`) counts as one second worse.
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

  /** A sleeping machine may stop the ticks, so earlier samples are worthless. */
  forget() {
    if (this.#best !== null) this.#best = { ...this.#best, slack: Infinity };
  }

  /** Milliseconds since the Unix epoch by the server's clock. */
  now() {
    return this.#ticks() + (this.#best?.offset ?? performance.timeOrigin);
  }
}

export const clock = new ServerClock();
