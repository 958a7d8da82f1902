// A client without a system: made-up answers, pretended time, and what the client made of them.

import { vi } from 'vitest';
import { type ClientOptions, FlashSaleClient } from '../typescript/src/index.ts';

export const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': status < 400 ? 'application/json' : 'application/problem+json', ...headers },
  });

export const problem = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}) =>
  json(status, { status, title: code, code, ...more }, headers);

/** What a request is about: the last part of its path that is no id. */
function about({ method, url }: Request): string {
  const { pathname } = new URL(url);
  const of = { tickets: 'ticket', line: 'line', challenges: 'challenge', tokens: 'answer' }[pathname.split('/').at(-1) as string];
  if (of !== undefined) return of;
  if (pathname.startsWith('/v1/sales/') && method === 'POST') return 'reserve';
  return method === 'GET' && pathname.startsWith('/v1/reservations/') ? 'look' : `${method} ${pathname}`;
}

export type Answer = Response | Error | ((request: Request) => Response | Promise<Response>);

/** A client whose requests are answered from a list for each kind, and then as usual. */
export function answered(
  answers: Record<string, Answer[] | undefined>,
  usual: Record<string, Answer>,
  options: Partial<ClientOptions> = {},
) {
  const requests: { what: string; request: Request; at: number }[] = [];
  const fetch = async (request: Request) => {
    const what = about(request);
    requests.push({ what, request: request.clone(), at: Date.now() });
    const next = answers[what]?.shift() ?? usual[what];
    if (!next) throw new Error(`nobody expected ${what}`);
    if (next instanceof Error) throw next;
    return typeof next === 'function' ? next(request) : next;
  };
  const client = new FlashSaleClient({ baseUrl: 'https://shop.example', getToken: () => 'token', fetch, ...options });
  const of = (kind: string) => requests.filter(({ what }) => what === kind);
  return { client, requests, of };
}

export async function all<T>(states: AsyncIterable<T>): Promise<T[]> {
  const heard: T[] = [];
  for await (const state of states) heard.push(state);
  return heard;
}

export const statuses = (states: { status: string }[]) => states.map(({ status }) => status);

/** The real one, whatever time a test pretends. */
const soon = setImmediate;

/** Lets pretended time pass, this many milliseconds at a time, until the work is done. What takes real time, such as a hash, is waited for. */
export async function passing<T>(work: Promise<T>, stepMs = 50): Promise<T> {
  let done = false;
  const end = () => {
    done = true;
  };
  work.then(end, end);
  while (!done) {
    if (vi.getTimerCount() > 0) await vi.advanceTimersByTimeAsync(stepMs);
    await new Promise<void>((resolve) => {
      soon(resolve);
    });
  }
  return work;
}
