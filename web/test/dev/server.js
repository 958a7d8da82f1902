// A stand-in for the whole system, to build the page against: its contract, in memory. `npm run dev` starts it.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { WebSocketServer } from 'ws';
import { DIST, sources } from '../../build.js';
import { routes } from './routes.js';
import { Answer, Sales } from './sales.js';
import { Users } from './users.js';

/** The folder of the built pages. Tests have their own. */
const PAGES = process.env.PAGES ?? DIST;
const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json',
  '.woff2': 'font/woff2',
};
/** The files that CloudFront compresses. */
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg', '.json']);
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
/** Cache times as in infra/cdk/lib/page.ts. */
const KEPT = [
  [/^\/assets\//, 'public, max-age=31536000, immutable'],
  [/^\/art\//, 'public, max-age=86400'],
  [/./, 'no-cache'],
];

function policy(port) {
  return ["default-src 'none'", "script-src 'self'", "style-src 'self'", "font-src 'self'", "img-src 'self' data:",
    `connect-src 'self' ws://127.0.0.1:${port}`, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ');
}

const squeezed = new Map();
async function contentOf(full, compressed) {
  if (!compressed) return readFile(full).catch(() => null);
  if (!squeezed.has(full)) squeezed.set(full, readFile(full).then((bytes) => brotliCompressSync(bytes, BROTLI), () => null));
  return squeezed.get(full);
}

async function file(request, path, port, response) {
  const name = normalize(path.endsWith('/') ? `${path}index.html` : path);
  const compressed = COMPRESSED.has(extname(name)) && /\bbr\b/.test(request.headers['accept-encoding'] ?? '');
  const content = await contentOf(join(PAGES, name), compressed);
  if (!content) return send(response, new Answer(404, { message: 'Not Found' }));
  response.writeHead(200, {
    'content-type': TYPES[extname(name)] ?? 'text/plain; charset=utf-8', 'content-length': content.length,
    ...(compressed ? { 'content-encoding': 'br' } : {}), vary: 'accept-encoding',
    'cache-control': KEPT.find(([pattern]) => pattern.test(name))[1],
    'content-security-policy': policy(port), 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer',
  });
  return response.end(content);
}

function send(response, { status, body, headers }) {
  const kind = body?.code ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': kind, 'cache-control': 'no-store', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body) ?? '');
}

/** Starts it on a free port, or on `port`, with the built pages, or `fromSources`, with reloading. */
export async function start({ port = 0, login = 'stand-in', tokenLifeMs = 3_600_000, fromSources = false } = {}) {
  const sales = new Sales();
  const users = new Users();
  const table = routes(sales, users, () => ({ port: server.address().port, login, tokenLifeMs }));
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://shop');
    const route = table.find(({ method, pattern }) => method === request.method && pattern.test(url.pathname));
    if (!route && edited) return edited(request, response, () => send(response, new Answer(404, { message: 'Not Found' })));
    if (!route) return file(request, decodeURIComponent(url.pathname), server.address().port, response);
    try {
      const user = route.who === 'nobody' ? null : users.of(request.headers, route.who === 'operator');
      const path = route.pattern.exec(url.pathname).slice(1).map(decodeURIComponent);
      const body = async () => JSON.parse((await text(request)) || '{}');
      const answer = await route.answer({ path, user, url, headers: request.headers, body, text: () => text(request) });
      sales.count(answer.status === 202 ? 'accepted' : 'ok');
      return send(response, answer);
    } catch (error) {
      if (!(error instanceof Answer)) console.error(error);
      const answer = error instanceof Answer ? error : new Answer(500, { code: 'internal', status: 500, title: 'internal' });
      if (answer.body?.code) sales.count(answer.body.code);
      return send(response, answer);
    }
  });
  // Node closes an idle connection after five seconds, which a client may be about to use again.
  server.keepAliveTimeout = 75_000;
  const edited = fromSources ? await sources(server) : null;
  const sockets = new WebSocketServer({ noServer: true });
  // Vite has its own socket on this server.
  server.on('upgrade', (request, socket, head) => {
    if (new URL(request.url, 'http://shop').pathname === '/push') sockets.handleUpgrade(request, socket, head, (one) => sockets.emit('connection', one, request));
  });
  sockets.on('connection', (socket, request) => {
    const token = new URL(request.url, 'http://shop').searchParams.get('token');
    socket.user = users.byToken(token)?.user;
    if (!socket.user) socket.close();
  });
  sales.changed = (user, { reservation_id, status }) => {
    for (const socket of sockets.clients) {
      if (socket.user === user) socket.send(JSON.stringify({ type: 'reservation', reservation_id, status }));
    }
  };
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sales,
    async stop() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, sales } = await start({ port: Number(process.env.PORT ?? 8080), fromSources: true });
  const { demo } = await import('./demo.js');
  demo(sales);
  console.log(url);
}
