// What a request can fail with.

import type { components } from './openapi.js';

/** The body of an error (RFC 9457). Some codes have further members, which are in the schemas of openapi.yaml. */
export type Problem = components['schemas']['Problem'] & { readonly [member: string]: unknown };

/** The codes of what API Gateway says by itself, without a code. */
const GATEWAY_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'denied',
  404: 'unknown_route',
  413: 'too_large',
  414: 'invalid_request',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  502: 'overloaded',
  503: 'overloaded',
  504: 'overloaded',
};

/** The system answered, with an error. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** What clients decide by; it never changes its meaning. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** The whole body. */
  readonly problem: Problem;

  constructor(status: number, body: unknown) {
    const members = typeof body === 'object' && body !== null ? (body as Partial<Problem>) : {};
    const code = typeof members.code === 'string' ? members.code : (GATEWAY_CODES[status] ?? 'internal');
    const title = typeof members.title === 'string' ? members.title : code;
    super(`${status} ${code}: ${members.detail ?? title}`);
    this.code = code;
    this.status = status;
    this.problem = { ...members, status, title, code };
  }
}

/**
 * No answer came, however often the request was repeated: the network is down, or each try took too long. A reservation may have been
 * made all the same; buying again with the same idempotency key finds it.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}
