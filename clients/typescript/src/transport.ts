// Requests: the token, a time limit for each attempt, and retries.

import { NoAnswerError } from './errors.js';
import { jittered, retryAfterMs, sleep } from './waiting.js';

/**
 * Returns the user's token (JWT). `rejected` is a token that the API has just refused: return a new one, or the same one again to let
 * the request fail with `unauthorized`.
 */
export type GetToken = (about: { rejected?: string; signal: AbortSignal }) => string | Promise<string>;

/** Describes a retry that is about to be made. */
export interface Retry {
  method: string;
  /** The request's URL. It never has a pass: that is a credential, and URLs end up in logs. */
  url: string;
  /** The status of the last answer; undefined if there was none. */
  status?: number;
  /** The delay before the retry. */
  delayMs: number;
  /** The number of the retry, from 1. */
  retry: number;
}

export interface TransportOptions {
  getToken?: GetToken | undefined;
  fetch: (request: Request) => Promise<Response>;
  /** Time limit of one attempt. */
  timeoutMs: number;
  /** No attempt starts later than this after the first one. */
  giveUpAfterMs: number;
  onRetry?: ((retry: Retry) => void) | undefined;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;
/** Statuses after which a retry may succeed. */
const PASSING = new Set([429, 502, 503, 504]);
/** The pass in the URL of a reservation. */
const PASS = /(\/v1\/sales\/[^/?#]*\/reservations\/)[^/?#]+/;
/** Methods that may be retried without further effect (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/** Sends requests. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Sends a request; retries it if its method is idempotent or it has an idempotency key. */
  readonly fetch = (request: Request): Promise<Response> =>
    this.#send(request, IDEMPOTENT.has(request.method) || request.headers.has('idempotency-key'));

  /** Sends a request that may be retried whatever its method. */
  readonly fetchRepeatable = (request: Request): Promise<Response> => this.#send(request, true);

  async #send(request: Request, repeatable: boolean): Promise<Response> {
    const { giveUpAfterMs, onRetry } = this.#options;
    const begun = Date.now();
    for (let retry = 1; ; retry += 1) {
      const { answer, error } = await this.#authorized(request);
      request.signal.throwIfAborted();
      const backoff = Math.min(FIRST_RETRY_MS * 2 ** (retry - 1), LONGEST_RETRY_MS);
      const delayMs = jittered(Math.max(backoff, (answer && retryAfterMs(answer.headers)) ?? 0));
      const again = repeatable && (!answer || passes(answer)) && Date.now() + delayMs - begun <= giveUpAfterMs;
      if (!again) {
        if (answer) return answer;
        throw new NoAnswerError(`no answer to ${request.method} ${withoutPass(request.url)}`, { cause: error });
      }
      const { method } = request;
      onRetry?.({ method, url: withoutPass(request.url), delayMs, retry, ...(answer ? { status: answer.status } : {}) });
      await sleep(delayMs, request.signal);
    }
  }

  /** One attempt, and a second one if the token is refused and another token is available. */
  async #authorized(request: Request): Promise<{ answer?: Response; error?: unknown }> {
    const { getToken } = this.#options;
    const { signal } = request;
    if (!getToken) return this.#try(request);
    const token = await getToken({ signal });
    const tried = await this.#try(request, token);
    if (tried.answer?.status !== 401) return tried;
    const renewed = await getToken({ rejected: token, signal });
    return renewed === token ? tried : this.#try(request, renewed);
  }

  /** Reads the answer to its end, so a connection that breaks in the middle counts as no answer. */
  async #try(request: Request, token?: string): Promise<{ answer?: Response; error?: unknown }> {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(this.#options.timeoutMs)]);
    const copy = new Request(request.clone(), { signal });
    if (token !== undefined) copy.headers.set('authorization', `Bearer ${token}`);
    try {
      const { fetch } = this.#options;
      const response = await fetch(copy);
      const body = await response.arrayBuffer();
      const { status, statusText, headers } = response;
      return { answer: new Response(body.byteLength > 0 ? body : null, { status, statusText, headers }) };
    } catch (error) {
      return { error };
    }
  }
}

/** The gateway answers 500 when a function has crashed; only a retry shows how far it came. A 500 from the function itself is final. */
function passes({ status, headers }: Response): boolean {
  return PASSING.has(status) || (status === 500 && !headers.get('content-type')?.startsWith('application/problem+json'));
}

/** The URL with `{token}` instead of a pass. */
function withoutPass(url: string): string {
  return url.replace(PASS, '$1{token}');
}
