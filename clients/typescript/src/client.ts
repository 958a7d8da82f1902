// The API client: typed requests, and the parts that a purchase needs.

import createClient, { type Client } from 'openapi-fetch';
import { ProblemError } from './errors.js';
import { Line } from './line.js';
import type { components, paths } from './openapi.js';
import { type BuyOptions, type PurchaseState, purchase } from './purchase.js';
import { type OpenSocket, Push } from './push.js';
import { type Solver, solve } from './solver.js';
import { type GetToken, type Retry, Transport } from './transport.js';
import { retryAfterMs } from './waiting.js';
import { follow, type Reservation } from './watch.js';

type Schemas = components['schemas'];

/** A page of orders, newest first. */
export type Orders = Schemas['Orders'];
/** A user's reservations in the latest round of a sale. */
export type SaleReservations = Schemas['SaleReservations'];
/** The public view of a sale. */
export type SalePage = Schemas['SalePage'];

export interface ClientOptions {
  /** The base URL of the API, without `/v1`. */
  baseUrl: string;
  /** Returns the user's token. It is called for each request, so cache the token until shortly before it expires. */
  getToken?: GetToken;
  /** The URL of the push connection, as the deployment prints it. Without it, or without a WebSocket, the client polls more often. */
  pushUrl?: string;
  /** The WebSocket class for push; the platform's `WebSocket` by default. Node 20 has none: pass the one of the package `ws`. */
  WebSocket?: OpenSocket;
  /** Solves the proof of work; by default on the calling thread. */
  solver?: Solver;
  /** Replaces the platform's `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Time limit of one attempt, in ms. */
  timeoutMs?: number;
  /** How long a request is retried while there is no answer, or the answer allows a retry, in ms. */
  giveUpAfterMs?: number;
  /** Called before each retry. */
  onRetry?: (retry: Retry) => void;
}

/** Longer than the gateway's time limit for a buyer's request. */
const TIMEOUT_MS = 10_000;
const GIVE_UP_AFTER_MS = 60_000;

interface Asked {
  signal?: AbortSignal;
}

/** A purchase in progress: iterate over it to carry it out. */
export interface Purchase extends AsyncGenerator<PurchaseState, void, undefined> {
  /** Identifies the attempt. */
  readonly idempotencyKey: string;
}

/** Buys on behalf of one user. */
export class FlashSaleClient {
  /**
   * Every operation of the API, typed. Requests get the token and are retried where that is safe. Errors are returned, not thrown
   * (`const { data, error } = await client.api.GET('/v1/orders')`).
   */
  readonly api: Client<paths>;
  readonly #transport: Transport;
  readonly #push: Push | undefined;
  readonly #solver: Solver;

  constructor(options: ClientOptions) {
    const { baseUrl, getToken, pushUrl, onRetry, timeoutMs = TIMEOUT_MS, giveUpAfterMs = GIVE_UP_AFTER_MS } = options;
    const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
    this.#transport = new Transport({ getToken, fetch, timeoutMs, giveUpAfterMs, onRetry });
    this.api = createClient<paths>({ baseUrl, fetch: this.#transport.fetch });
    const Socket = options.WebSocket ?? (globalThis as { WebSocket?: OpenSocket }).WebSocket;
    this.#push = pushUrl && getToken && Socket ? new Push(pushUrl, getToken, Socket) : undefined;
    this.#solver = options.solver ?? solve;
  }

  /** Returns a published sale: whether it is open, its price, and whether units are left. */
  async sale(saleId: string, { signal }: Asked = {}): Promise<SalePage> {
    const asked = { params: { path: { sale_id: saleId } }, ...abortable(signal) };
    return value(await this.api.GET('/v1/sales/{sale_id}', asked));
  }

  /**
   * Buys a unit. No request is sent until you iterate:
   *
   *     for await (const state of client.buy('lamp')) { … }
   *
   * The iteration ends with `refused` or the reservation's final state. You may stop earlier, for example at `pending_payment`: the
   * reservation stays, and {@link watch} continues from there. In a sale with a line it waits for the user's turn, for as long as that
   * takes.
   *
   * @throws {ProblemError} for an error that is not a refusal
   * @throws {NoAnswerError} if no answer came; buy again with the same `idempotencyKey`
   */
  buy(saleId: string, options: BuyOptions = {}): Purchase {
    const idempotencyKey = options.idempotencyKey ?? newKey();
    const signal = options.signal ?? new AbortController().signal;
    const path = { sale_id: saleId };
    const fetch = this.#transport.fetchRepeatable;
    const requests = {
      // The same user gets the same place again.
      ticket: async (signal: AbortSignal) => value(await this.api.POST('/v1/sales/{sale_id}/tickets', { params: { path }, signal, fetch })),
      get: async (signal: AbortSignal) => value(await this.api.GET('/v1/sales/{sale_id}/line', { params: { path }, signal })),
    };
    const line = new Line(requests, options.ticket, signal);
    const steps = {
      challenge: async (kind: 'work' | undefined, signal: AbortSignal) => {
        // A challenge that nobody answers costs nothing.
        const asked = { params: { path, header: line.headers }, body: kind ? { kind } : {}, signal, fetch };
        return value(await this.api.POST('/v1/sales/{sale_id}/challenges', asked));
      },
      admit: async (body: Schemas['ChallengeAnswer'], signal: AbortSignal) => {
        const asked = { params: { path, header: line.headers }, body, signal, fetch };
        return value(await this.api.POST('/v1/sales/{sale_id}/tokens', asked));
      },
      reserve: async ({ token }: Schemas['Admission'], key: string, signal: AbortSignal) => {
        const params = { path: { ...path, token }, header: { 'Idempotency-Key': key } };
        return value(await this.api.POST('/v1/sales/{sale_id}/reservations/{token}', { params, signal }));
      },
      follow: (id: string, signal: AbortSignal) => this.#follow(id, signal, { accepted: true }),
    };
    const states = purchase(steps, line, idempotencyKey, options.solver ?? this.#solver, options, signal);
    return Object.assign(states, { idempotencyKey });
  }

  /** Yields a reservation as it is, and each time that it has changed, up to its final state. */
  watch(reservationId: string, { signal = new AbortController().signal }: Asked = {}): AsyncGenerator<Reservation, void, undefined> {
    return this.#follow(reservationId, signal);
  }

  #follow(id: string, signal: AbortSignal, known?: { accepted: boolean }): AsyncGenerator<Reservation, void, undefined> {
    return follow(id, () => this.reservation(id, { signal }), this.#push, signal, known);
  }

  /** How a reservation stands. */
  async reservation(reservationId: string, { signal }: Asked = {}): Promise<Reservation> {
    const asked = { params: { path: { reservation_id: reservationId } }, ...abortable(signal) };
    return value(await this.api.GET('/v1/reservations/{reservation_id}', asked));
  }

  /**
   * "Did I get it?": the user's reservations in the sale's latest round, the newest first, also while they are queued. For an app that has lost
   * the reservation's id.
   */
  async reservations(saleId: string, { signal }: Asked = {}): Promise<SaleReservations> {
    const asked = { params: { path: { sale_id: saleId } }, ...abortable(signal) };
    return value(await this.api.GET('/v1/sales/{sale_id}/reservation', asked));
  }

  /** Gives a reservation back. One that was cancelled before is answered alike. */
  async cancel(reservationId: string, { signal }: Asked = {}): Promise<Reservation> {
    const asked = { params: { path: { reservation_id: reservationId } }, ...abortable(signal) };
    return value(await this.api.DELETE('/v1/reservations/{reservation_id}', asked));
  }

  /** A page of the user's orders, the newest first. */
  async orders({ cursor, signal }: Asked & { cursor?: string } = {}): Promise<Orders> {
    const query = cursor === undefined ? {} : { cursor };
    return value(await this.api.GET('/v1/orders', { params: { query }, ...abortable(signal) }));
  }

  /** All orders of the user, the newest first, read page by page. */
  async *allOrders(asked: Asked = {}): AsyncGenerator<Reservation, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.orders({ ...asked, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.orders;
      cursor = page.next_cursor;
      if (cursor === undefined) return;
    }
  }
}

function abortable(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

/** What was asked for, or the problem as an error. */
function value<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (response.ok && data !== undefined) return data;
  throw new ProblemError(response.status, error, retryAfterMs(response.headers));
}

/** `crypto.randomUUID` is only there in secure contexts. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
