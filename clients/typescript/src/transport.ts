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

/** What came of an attempt. */
type Attempt = { answer?: Response; error?: unknown };

/**
 * Returns a function that sends a request, and retries it if its method is idempotent, it has an idempotency key, or it is `repeatable`
 * whatever its method.
 */
export function transport({ getToken, fetch, timeoutMs, giveUpAfterMs, onRetry }: TransportOptions) {
  /** Reads the answer to its end, so a connection that breaks in the middle counts as no answer. */
  async function attempt(request: Request, token?: string): Promise<Attempt> {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    const copy = new Request(request.clone(), { signal });
    if (token !== undefined) copy.headers.set('authorization', `Bearer ${token}`);
    try {
      const response = await fetch(copy);
      const body = await response.arrayBuffer();
      const { status, statusText, headers } = response;
      return { answer: new Response(body.byteLength > 0 ? body : null, { status, statusText, headers }) };
    } catch (error) {
      return { error };
    }
  }

  /** One attempt, and a second one if the token is refused and another token is available. */
  async function authorized(request: Request): Promise<Attempt> {
    if (!getToken) return attempt(request);
    const { signal } = request;
    const token = await getToken({ signal });
    const tried = await attempt(request, token);
    if (tried.answer?.status !== 401) return tried;
    const renewed = await getToken({ rejected: token, signal });
    return renewed === token ? tried : attempt(request, renewed);
  }

  return async (request: Request, repeatable = false): Promise<Response> => {
    const { method, signal } = request;
    const url = request.url.replace(PASS, '$1{token}');
    const mayRepeat = repeatable || IDEMPOTENT.has(method) || request.headers.has('idempotency-key');
    const begun = Date.now();
    for (let retry = 1; ; retry += 1) {
      const { answer, error } = await authorized(request);
      signal.throwIfAborted();
      const backoff = Math.min(FIRST_RETRY_MS * 2 ** (retry - 1), LONGEST_RETRY_MS);
      const delayMs = jittered(Math.max(backoff, (answer && retryAfterMs(answer.headers)) ?? 0));
      const again = mayRepeat && (!answer || passes(answer)) && Date.now() + delayMs - begun <= giveUpAfterMs;
      if (!again) {
        if (answer) return answer;
        throw new NoAnswerError(`no answer to ${method} ${url}`, { cause: error });
      }
      onRetry?.({ method, url, delayMs, retry, ...(answer ? { status: answer.status } : {}) });
      await sleep(delayMs, signal);
    }
  };
}

/** The gateway answers 500 when a function has crashed; only a retry shows how far it came. A 500 from the function itself is final. */
function passes({ status, headers }: Response): boolean {
  return PASSING.has(status) || (status === 500 && !headers.get('content-type')?.startsWith('application/problem+json'));
}
