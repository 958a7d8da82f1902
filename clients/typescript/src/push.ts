// Push messages by WebSocket (asyncapi.yaml). They are only an improvement: watchers poll as well, but less often while push is up.

import type { GetToken } from './transport.js';
import { jittered, sleep } from './waiting.js';

/** The part of a WebSocket that push uses: the browser's, Node's (22 and later), or that of the package `ws`. */
export interface PushSocket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  close(): void;
}

/** The constructor of a socket. */
export type OpenSocket = new (url: string) => PushSocket;

/** Hears of a reservation that has changed, or, without one, that the connection has come or gone. */
type Listener = (reservationId?: string) => void;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** A connection that stays open while there are listeners. */
export class Push {
  readonly #url: string;
  readonly #getToken: GetToken;
  readonly #Socket: OpenSocket;
  readonly #listeners = new Set<Listener>();
  #stop: AbortController | undefined;
  /** Whether the connection is up. */
  up = false;

  constructor(url: string, getToken: GetToken, Socket: OpenSocket) {
    this.#url = url;
    this.#getToken = getToken;
    this.#Socket = Socket;
  }

  /** Tells `listener` until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (!this.#stop) {
      this.#stop = new AbortController();
      // Only the signal ends it.
      this.#keep(this.#stop.signal).catch(() => {});
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.abort();
      this.#stop = undefined;
    };
  }

  async #keep(signal: AbortSignal): Promise<never> {
    for (let failures = 0; ; failures += 1) {
      if (await this.#connected(signal).catch(() => false)) failures = 0;
      await sleep(jittered(Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)), signal);
    }
  }

  /** Returns when the connection ends: whether there was one. */
  async #connected(signal: AbortSignal): Promise<boolean> {
    const token = await this.#getToken({ signal });
    signal.throwIfAborted();
    const url = new URL(this.#url);
    // Browsers cannot set headers on a WebSocket.
    url.searchParams.set('token', token);
    const socket = new this.#Socket(url.href);
    return new Promise((done) => {
      let opened = false;
      // Browsers log an error when a socket is closed before it is open.
      const close = () => {
        if (opened) socket.close();
      };
      signal.addEventListener('abort', close, { once: true });
      socket.onopen = () => {
        opened = true;
        if (signal.aborted) return socket.close();
        this.up = true;
        this.#tell();
      };
      socket.onmessage = ({ data }: { data: unknown }) => this.#hear(data);
      // `close` follows. The package `ws` throws if there is no listener for `error`.
      socket.onerror = () => {};
      socket.onclose = () => {
        signal.removeEventListener('abort', close);
        if (this.up) {
          this.up = false;
          this.#tell();
        }
        done(opened);
      };
    });
  }

  #hear(data: unknown): void {
    let message: { type?: unknown; reservation_id?: unknown } | null;
    try {
      message = JSON.parse(String(data));
    } catch {
      return;
    }
    // Unknown types are ignored: new ones may be added.
    if (message?.type === 'reservation' && typeof message.reservation_id === 'string') this.#tell(message.reservation_id);
  }

  #tell(reservationId?: string): void {
    for (const listener of [...this.#listeners]) listener(reservationId);
  }
}
