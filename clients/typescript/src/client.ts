// The client: typed requests, and what a purchase needs of them.

import createClient, { type Client } from 'openapi-fetch';
import { ProblemError } from './errors.js';
import type { components, paths } from './openapi.js';
import { type BuyOptions, type PurchaseState, purchase } from './purchase.js';
import { type OpenSocket, Push } from './push.js';
import { type Solver, solve } from './solver.js';
import { type GetToken, type Retry, Transport } from './transport.js';
import { follow, type Reservation } from './watch.js';

type Schemas = components['schemas'];

/** A page of orders, the newest first. */
export type Orders = Schemas['Orders'];
/** A user's reservations in the latest round of a sale. */
export type SaleReservations = Schemas['SaleReservations'];
/** A sale as everybody may see it. */
export type SalePage = Schemas['SalePage'];

export interface ClientOptions {
  /** Where the API is, without `/v1`. */
  baseUrl: string;
  /** Gives the token of the user. It is asked for each request, so keep the token until it is about to expire. */
  getToken?: GetToken;
  /** Where push is, as the deployment prints it. Without it, or without a WebSocket, the client asks more often. */
  pushUrl?: string;
  /** Opens the connection for push: the class `WebSocket` of the platform, unless you give one. Node 20 has none; the package `ws` fits. */
  WebSocket?: OpenSocket;
  /** Does the proof of work; in this thread, unless you give another one. */
  solver?: Solver;
  /** Instead of the platform's. */
  fetch?: (request: Request) => Promise<Response>;
  /** Longest wait for one answer, in ms. */
  timeoutMs?: number;
  /** How long a request is repeated while there is no answer, or one that says to try again, in ms. */
  giveUpAfterMs?: number;
  /** Hears of each repetition. */
  onRetry?: (retry: Retry) => void;
}

/** Longer than the gateway gives a function for a buyer's request. */
const TIMEOUT_MS = 10_000;
const GIVE_UP_AFTER_MS = 60_000;

interface Asked {
  signal?: AbortSignal;
}

/** A purchase that is under way: iterate over it to carry it out. */
export interface Purchase extends AsyncGenerator<PurchaseState, void, undefined> {
  /** Names the attempt. */
  readonly idempotencyKey: string;
}

/** Buys for one user. */
export class FlashSaleClient {
  /**
   * Every operation of the API, typed. It adds the token and repeats what may be repeated; errors are values here
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

  /** A published sale: whether it is open, what it costs, whether something is left. */
  async sale(saleId: string, { signal }: Asked = {}): Promise<SalePage> {
    const asked = { params: { path: { sale_id: saleId } }, ...abortable(signal) };
    return value(await this.api.GET('/v1/sales/{sale_id}', asked));
  }

  /**
   * Buys a unit. Nothing is sent until you iterate:
   *
   *     for await (const state of client.buy('lamp')) { … }
   *
   * It ends with `refused` or the reservation's final state. You may stop before, for example at `pending_payment`; the reservation stays,
   * and {@link watch} goes on from there.
   *
   * @throws {ProblemError} an error that is none of the refusals
   * @throws {NoAnswerError} if no answer came; buy again with the same `idempotencyKey`
   */
  buy(saleId: string, options: BuyOptions = {}): Purchase {
    const idempotencyKey = options.idempotencyKey ?? newKey();
    const signal = options.signal ?? new AbortController().signal;
    const path = { sale_id: saleId };
    const fetch = this.#transport.fetchRepeatable;
    const steps = {
      challenge: async (kind: 'work' | undefined, signal: AbortSignal) =>
        // A challenge that nobody answers costs nothing.
        value(await this.api.POST('/v1/sales/{sale_id}/challenges', { params: { path }, body: kind ? { kind } : {}, signal, fetch })),
      admit: async (body: Schemas['ChallengeAnswer'], signal: AbortSignal) =>
        value(await this.api.POST('/v1/sales/{sale_id}/tokens', { params: { path }, body, signal, fetch })),
      reserve: async ({ token }: Schemas['Admission'], key: string, signal: AbortSignal) => {
        const params = { path: { ...path, token }, header: { 'Idempotency-Key': key } };
        return value(await this.api.POST('/v1/sales/{sale_id}/reservations/{token}', { params, signal }));
      },
      watch: (id: string, signal: AbortSignal) => this.watch(id, { signal }),
    };
    const states = purchase(steps, idempotencyKey, options.solver ?? this.#solver, options, signal);
    return Object.assign(states, { idempotencyKey });
  }

  /** Yields a reservation as it is, and each time that it has changed, up to its final state. */
  watch(reservationId: string, { signal = new AbortController().signal }: Asked = {}): AsyncGenerator<Reservation, void, undefined> {
    return follow(reservationId, () => this.reservation(reservationId, { signal }), this.#push, signal);
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
  throw new ProblemError(response.status, error);
}

/** `crypto.randomUUID` is only there in secure contexts. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
