// News by WebSocket. Only an improvement: whoever watches asks by itself, and merely less often while this is up.

import { config } from './config.js';
import { session } from './session.js';
import { Wait, jittered } from './timing.js';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** Tells `news` (with `reservationId`) and `change` of `up`. */
class Push extends EventTarget {
  up = false;
  #users = 0;
  #stop = null;

  /** Keeps the connection for as long as somebody uses it. */
  use(signal) {
    this.#users += 1;
    if (this.#users === 1) {
      this.#stop = new AbortController();
      this.#keep(this.#stop.signal);
    }
    signal.addEventListener('abort', () => {
      this.#users -= 1;
      if (this.#users === 0) this.#stop.abort();
    }, { once: true });
  }

  async #keep(signal) {
    const url = await config().then((all) => all.push_url, () => null);
    const wait = new Wait();
    signal.addEventListener('abort', () => wait.nudge(), { once: true });
    for (let retries = 0; url && !signal.aborted; retries += 1) {
      if (session.current && (await this.#connected(url, signal))) retries = 0;
      if (signal.aborted) return;
      await wait.for(jittered(Math.min(FIRST_RETRY_MS * 2 ** retries, LONGEST_RETRY_MS)));
    }
  }

  /** Stays as long as the connection does, and says whether there was one. */
  #connected(url, signal) {
    return new Promise((done) => {
      let opened = false;
      const socket = new WebSocket(`${url}?token=${encodeURIComponent(session.current.token)}`);
      // Browsers complain when one closes what is not open yet.
      const close = () => socket.readyState === WebSocket.CONNECTING || socket.close();
      signal.addEventListener('abort', close, { once: true });
      socket.onopen = () => {
        opened = true;
        if (signal.aborted) socket.close();
        else this.#set(true);
      };
      socket.onmessage = ({ data }) => this.#hear(data);
      socket.onclose = () => {
        signal.removeEventListener('abort', close);
        this.#set(false);
        done(opened);
      };
    });
  }

  #hear(data) {
    try {
      const { type, reservation_id: reservationId } = JSON.parse(data);
      if (type === 'reservation') this.dispatchEvent(Object.assign(new Event('news'), { reservationId }));
    } catch {
      // Not for us.
    }
  }

  #set(up) {
    if (this.up === up) return;
    this.up = up;
    this.dispatchEvent(new Event('change'));
  }
}

export const push = new Push();
