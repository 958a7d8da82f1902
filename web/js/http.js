// Requests to the API, and their errors.

import { GATEWAY_CODES } from '../../clients/typescript/src/errors.ts';
import { clock } from './clock.js';
import { SignInCancelled, session } from './session.js';

/** Longer than the gateway's time limit for a buyer's request. */
const TIMEOUT_MS = 10_000;

/** A failed request. `network`: no answer came. */
export class Problem extends Error {
  constructor(code, { status = 0, retryAfterS = null, members = {} } = {}) {
    super(code);
    Object.assign(this, { name: 'Problem', code, status, retryAfterS, members });
  }
}

/** Problems that a later request may not have. */
const PASSING = new Set(['overloaded', 'network', 'rate_limited', 'internal']);
export const isPassing = ({ code }) => PASSING.has(code);

async function send(method, path, { body, key, auth, signal, asFile, more = {}, keepalive = false }) {
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
      // Catalog answers may be cached for a second, but a browser that serves one from its disk presents it as fresh.
      cache: 'no-store',
    });
    if (asFile && response.ok) return { file: await response.blob(), headers: response.headers };
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem('network');
  }
  const heardAt = performance.now();
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
  const code = typeof value?.code === 'string' ? value.code : GATEWAY_CODES[response.status] ?? 'internal';
  return new Problem(code, {
    status: response.status,
    retryAfterS: Number.isFinite(retry) && retry >= 0 ? retry : null,
    members: value ?? {},
  });
}

/** Requests public data. */
export const get = (path, options = {}) => send('GET', path, options);

/**
 * Sends a request as the user. Users who are not or no longer signed in are asked to sign in first. `asFile`: the answer is not JSON, and
 * is returned byte for byte as `{file, headers}`. `more` are further headers; with `keepalive` the request is sent even if the page is closed.
 */
export async function ask(method, path, options = {}) {
  await session.require();
  const { user } = session.current;
  for (let tries = 0; ; tries += 1) {
    const { token } = session.current;
    try {
      return await send(method, path, { ...options, auth: true });
    } catch (error) {
      if (error.code !== 'unauthorized' || tries === 2) throw error;
    }
    // If the silently renewed token is refused too, only the user can solve this.
    await (tries === 0 ? session.renew(token) : session.signIn(token));
    // Another user must not finish what this one began.
    if (session.current.user !== user) throw new SignInCancelled();
  }
}
