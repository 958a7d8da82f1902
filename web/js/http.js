// Requests of the API, and what can go wrong with them.

import { clock } from './clock.js';
import { SignInCancelled, session } from './session.js';

/** Longer than the gateway lets a function take for a request of a buyer. */
const TIMEOUT_MS = 10_000;

/** What the gateway says without a code of ours. */
const CODE_BY_STATUS = {
  400: 'invalid_request', 401: 'unauthorized', 403: 'denied', 404: 'unknown_route', 413: 'too_large',
  414: 'invalid_request', 415: 'unsupported_media_type', 429: 'rate_limited', 502: 'overloaded', 503: 'overloaded',
  504: 'overloaded',
};

/** An answer that is not what was asked for. `network`: there was none. */
export class Problem extends Error {
  constructor(code, { status = 0, retryAfterS = null, members = {} } = {}) {
    super(code);
    this.name = 'Problem';
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.members = members;
  }
}

async function send(method, path, { body, key, auth, signal, asText, more = {}, keepalive = false }) {
  const headers = { accept: 'application/json, application/problem+json', ...more };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (key) headers['idempotency-key'] = key;
  if (auth) headers.authorization = `Bearer ${session.current.token}`;
  const stop = AbortSignal.timeout(TIMEOUT_MS);
  const sentAt = performance.now();
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, stop]) : stop,
      credentials: 'omit',
      keepalive,
      // Catalog answers may be kept for a second, but a browser that serves one from its disk makes it look fresh.
      cache: 'no-store',
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem('network');
  }
  const heardAt = performance.now();
  if (asText && response.ok) return { text, headers: response.headers };
  let value = null;
  try {
    value = text === '' ? null : JSON.parse(text);
  } catch {
    if (response.ok) throw new Problem('internal', { status: response.status });
  }
  if (!response.ok) throw problemOf(response, value);
  const age = response.headers.get('age');
  const serverTime = value?.server_time ?? response.headers.get('date');
  clock.sample({ sentAt, heardAt, serverTime, age, coarse: !value?.server_time });
  return value;
}

function problemOf(response, value) {
  const retry = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
  const code = typeof value?.code === 'string' ? value.code : CODE_BY_STATUS[response.status] ?? 'internal';
  return new Problem(code, {
    status: response.status,
    retryAfterS: Number.isFinite(retry) && retry >= 0 ? retry : null,
    members: value ?? {},
  });
}

/** Asks what everybody may know. */
export function look(path, options = {}) {
  return send('GET', path, options);
}

/**
 * Asks as the user. Who is not signed in, or no longer, is asked to, and then it goes on. `asText`: the answer is no JSON, and
 * comes as `{text, headers}`. `more` are further headers; with `keepalive` it is sent even if the page is closed.
 */
export async function ask(method, path, options = {}) {
  await session.require();
  const { token, user } = session.current;
  try {
    return await send(method, path, { ...options, auth: true });
  } catch (error) {
    if (error.code !== 'unauthorized') throw error;
    await session.renew(token);
    // What one user began is not for another to end.
    if (session.current.user !== user) throw new SignInCancelled();
    const renewed = session.current.token;
    try {
      return await send(method, path, { ...options, auth: true });
    } catch (again) {
      // What was renewed without a word is not taken either: then only a person can help.
      if (again.code !== 'unauthorized') throw again;
      await session.signIn(renewed);
      if (session.current.user !== user) throw new SignInCancelled();
      return send(method, path, { ...options, auth: true });
    }
  }
}
