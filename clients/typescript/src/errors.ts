// The errors of a request.

import type { components } from './openapi.js';

/** The body of an error (RFC 9457). Some codes have further members: see `problems` in api.yaml. */
export type Problem = components['schemas']['Problem'] & { readonly [member: string]: unknown };

/** The codes for API Gateway's own errors, which carry none. */
export const GATEWAY_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'unknown_route',
  413: 'too_large',
  414: 'invalid_request',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  502: 'overloaded',
  503: 'overloaded',
  504: 'overloaded',
};

/** The system answered with an error. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** The machine-readable reason; its meaning never changes. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** The whole response body. */
  readonly problem: Problem;
  /** How long the answer says to wait before another request, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: unknown, retryAfterMs?: number) {
    const members = typeof body === 'object' && body !== null ? (body as Partial<Problem>) : {};
    const code = typeof members.code === 'string' ? members.code : (GATEWAY_CODES[status] ?? 'internal');
    const title = typeof members.title === 'string' ? members.title : code;
    super(`${status} ${code}: ${members.detail ?? title}`);
    this.code = code;
    this.status = status;
    this.problem = { ...members, status, title, code };
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * No answer came in spite of retries: the network is down, or each attempt timed out. A reservation may exist nevertheless; buying again
 * with the same idempotency key finds it.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}
