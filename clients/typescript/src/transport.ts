// Requests: the token, a time limit for each try, and what is sent again.

import { NoAnswerError } from './errors.js';
import { jittered, retryAfterMs, sleep } from './waiting.js';

/**
 * Gives the token (JWT) of the user. `rejected` is a token that the API has just refused: get a new one, or give the same one again to
 * have the request fail with `unauthorized`.
 */
export type GetToken = (about: { rejected?: string; signal: AbortSignal }) => string | Promise<string>;

/** That a request is about to be sent again. */
export interface Retry {
  method: string;
  url: string;
  /** The status of the answer; without it none came. */
  status?: number;
  /** What it waits until then. */
  delayMs: number;
  /** Counted from 1. */
  retry: number;
}

export interface TransportOptions {
  getToken?: GetToken | undefined;
  fetch: (request: Request) => Promise<Response>;
  /** Longest wait for one answer. */
  timeoutMs: number;
  /** A try that would begin later than this after the first one is not made. */
  giveUpAfterMs: number;
  onRetry?: ((retry: Retry) => void) | undefined;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;
/** Answers that the same request may get a better one after. */
const PASSING = new Set([429, 502, 503, 504]);
/** Repeating these does nothing more (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/** Sends requests. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Sends a request, and again if it may be repeated: by its method, or because it has an idempotency key. */
  readonly fetch = (request: Request): Promise<Response> =>
    this.#send(request, IDEMPOTENT.has(request.method) || request.headers.has('idempotency-key'));

  /** Sends a request that may be repeated whatever its method. */
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
        throw new NoAnswerError(`no answer to ${request.method} ${request.url}`, { cause: error });
      }
      const { method, url } = request;
      onRetry?.({ method, url, delayMs, retry, ...(answer ? { status: answer.status } : {}) });
      await sleep(delayMs, request.signal);
    }
  }

  /** One try; a second one if the token is refused and there is another. */
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

  /** The answer is read to its end, so that a connection that breaks in the middle counts as no answer. */
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

/** A function that died is the gateway's 500, and only the next try tells how far it came. A 500 of the function itself stays one. */
function passes({ status, headers }: Response): boolean {
  return PASSING.has(status) || (status === 500 && !headers.get('content-type')?.startsWith('application/problem+json'));
}
