// The API client: typed requests, and the parts that a purchase needs.

import createClient, { type Client } from 'openapi-fetch';
import { ProblemError } from './errors.js';
import { hexOf } from './hash.js';
import { Line } from './line.js';
import type { components, paths } from './openapi.js';
import { type BuyOptions, type PurchaseState, purchase } from './purchase.js';
import { type OpenSocket, Push } from './push.js';
import { type Solver, solve, type Work } from './solver.js';
import { type GetToken, type Retry, transport } from './transport.js';
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
  /** Sends a request that may be retried whatever its method. */
  readonly #repeatable: (request: Request) => Promise<Response>;
  readonly #push: Push | undefined;
  readonly #solver: Solver;

  constructor(options: ClientOptions) {
    const { baseUrl, getToken, pushUrl, onRetry, timeoutMs = TIMEOUT_MS, giveUpAfterMs = GIVE_UP_AFTER_MS } = options;
    const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
    const send = transport({ getToken, fetch, timeoutMs, giveUpAfterMs, onRetry });
    this.#repeatable = (request) => send(request, true);
    this.api = createClient<paths>({ baseUrl, fetch: (request) => send(request) });
    const Socket = options.WebSocket ?? (globalThis as { WebSocket?: OpenSocket }).WebSocket;
    this.#push = pushUrl && getToken && Socket ? new Push(pushUrl, getToken, Socket) : undefined;
    this.#solver = options.solver ?? solve;
  }

  /** Returns a published sale: whether it is open, its price, and whether units are left. */
  async sale(saleId: string, asked: Asked = {}): Promise<SalePage> {
    return value(await this.api.GET('/v1/sales/{sale_id}', { params: { path: { sale_id: saleId } }, ...asked }));
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
    const { idempotencyKey = newKey(), signal = new AbortController().signal, solver = this.#solver } = options;
    const path = { sale_id: saleId };
    // The same user gets the same ticket again, and a challenge that nobody answers costs nothing.
    const fetch = this.#repeatable;
    const requests = {
      ticket: async () => value(await this.api.POST('/v1/sales/{sale_id}/tickets', { params: { path }, signal, fetch })),
      get: async () => value(await this.api.GET('/v1/sales/{sale_id}/line', { params: { path }, signal })),
    };
    const line = new Line(requests, options.ticket, signal);
    const inTurn = <T>(body: T) => ({ params: { path, header: line.headers }, body, signal, fetch });
    const steps = {
      challenge: async (body: { kind?: 'work' }) => value(await this.api.POST('/v1/sales/{sale_id}/challenges', inTurn(body))),
      solve: (work: Work) => solver(work, signal),
      admit: async (body: Schemas['ChallengeAnswer']) => value(await this.api.POST('/v1/sales/{sale_id}/tokens', inTurn(body))),
      reserve: async ({ token }: Schemas['Admission']) => {
        const params = { path: { ...path, token }, header: { 'Idempotency-Key': idempotencyKey } };
        return value(await this.api.POST('/v1/sales/{sale_id}/reservations/{token}', { params, signal }));
      },
      follow: (id: string) => this.#follow(id, signal, true),
    };
    return Object.assign(purchase(steps, line, options, signal), { idempotencyKey });
  }

  /** Yields a reservation as it is, and each time that it has changed, up to its final state. */
  watch(reservationId: string, { signal = new AbortController().signal }: Asked = {}): AsyncGenerator<Reservation, void, undefined> {
    return this.#follow(reservationId, signal, false);
  }

  #follow(id: string, signal: AbortSignal, accepted: boolean): AsyncGenerator<Reservation, void, undefined> {
    return follow(id, () => this.reservation(id, { signal }), this.#push, signal, accepted);
  }

  /** How a reservation stands. */
  async reservation(reservationId: string, asked: Asked = {}): Promise<Reservation> {
    const params = { path: { reservation_id: reservationId } };
    return value(await this.api.GET('/v1/reservations/{reservation_id}', { params, ...asked }));
  }

  /**
   * "Did I get it?": the user's reservations in the sale's latest round, the newest first, also while they are queued. For an app that has lost
   * the reservation's id.
   */
  async reservations(saleId: string, asked: Asked = {}): Promise<SaleReservations> {
    return value(await this.api.GET('/v1/sales/{sale_id}/reservation', { params: { path: { sale_id: saleId } }, ...asked }));
  }

  /** Gives a reservation back. One that was cancelled before is answered alike. */
  async cancel(reservationId: string, asked: Asked = {}): Promise<Reservation> {
    const params = { path: { reservation_id: reservationId } };
    return value(await this.api.DELETE('/v1/reservations/{reservation_id}', { params, ...asked }));
  }

  /** A page of the user's orders, the newest first. */
  async orders({ cursor, ...asked }: Asked & { cursor?: string } = {}): Promise<Orders> {
    return value(await this.api.GET('/v1/orders', { params: { query: cursor === undefined ? {} : { cursor } }, ...asked }));
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

/** What was asked for, or the problem as an error. */
function value<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (response.ok && data !== undefined) return data;
  throw new ProblemError(response.status, error, retryAfterMs(response.headers));
}

/** `crypto.randomUUID` is only there in secure contexts. */
const newKey = (): string => hexOf(crypto.getRandomValues(new Uint8Array(16)));
