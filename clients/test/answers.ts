// Made-up answers of a system, and what a client made of them.

/** An answer with JSON. */
export const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': status < 400 ? 'application/json' : 'application/problem+json', ...headers },
  });

export const problem = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}) =>
  json(status, { status, title: code, code, ...more }, headers);

/** What a request is about: the last part of its path that is no id. */
export function about({ method, url }: Request): string {
  const { pathname } = new URL(url);
  const of = { tickets: 'ticket', line: 'line', challenges: 'challenge', tokens: 'answer' }[pathname.split('/').at(-1) as string];
  if (of !== undefined) return of;
  if (pathname.startsWith('/v1/sales/') && method === 'POST') return 'reserve';
  return method === 'GET' && pathname.startsWith('/v1/reservations/') ? 'look' : `${method} ${pathname}`;
}

export async function all<T>(states: AsyncIterable<T>): Promise<T[]> {
  const heard: T[] = [];
  for await (const state of states) heard.push(state);
  return heard;
}

export const statuses = (states: { status: string }[]) => states.map(({ status }) => status);
