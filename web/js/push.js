// Push by WebSocket. Only an improvement: pages poll anyway, but less often while it is connected.

import { config } from './config.js';
import { session } from './session.js';
import { FIRST_RETRY_MS, Wait, backoff, jittered } from './timing.js';

/** Longer than for requests: pages work without it. */
const LONGEST_PAUSE_MS = 60_000;

/** A connection until `signal` is aborted. Dispatches `news` (with `reservationId`), and `change` when `up` changes. */
export class Push extends EventTarget {
  up = false;

  constructor(signal) {
    super();
    this.#keep(signal);
  }

  async #keep(signal) {
    const url = await config().then((all) => all.push_url, () => null);
    const wait = new Wait(signal);
    for (let retries = 0; url && !signal.aborted; retries += 1) {
      if (session.current && (await this.#connected(url, signal))) retries = 0;
      await wait.for(jittered(backoff(retries, FIRST_RETRY_MS, LONGEST_PAUSE_MS)));
    }
  }

  /** Resolves when the connection ends, with whether it was ever open. */
  #connected(url, signal) {
    return new Promise((done) => {
      let opened = false;
      const socket = new WebSocket(`${url}?token=${encodeURIComponent(session.current.token)}`);
      // Browsers log an error when a socket is closed before it is open.
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
      // Not a message for this page.
    }
  }

  #set(up) {
    if (this.up === up) return;
    this.up = up;
    this.dispatchEvent(new Event('change'));
  }
}
