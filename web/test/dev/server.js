// A stand-in for the whole system, for building the page: the contract in memory. `npm run dev` starts it.

import { createServer } from 'node:http';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { routes } from './routes.js';
import { Answer, Sales } from './sales.js';
import { Users } from './users.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json',
};
/** What nobody should get from a shop's origin. */
const PRIVATE = /^\/(test|node_modules|package)/;

function policy(port) {
  return ["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
    `connect-src 'self' ws://127.0.0.1:${port}`, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ');
}

async function file(path, port, response) {
  const name = normalize(path === '/' ? '/index.html' : path);
  const full = join(ROOT, name);
  const found = PRIVATE.test(name) ? null : await stat(full).catch(() => null);
  if (!found?.isFile()) return send(response, new Answer(404, { message: 'Not Found' }));
  response.writeHead(200, {
    'content-type': TYPES[extname(name)] ?? 'text/plain; charset=utf-8', 'content-length': found.size, 'cache-control': 'no-cache',
    'content-security-policy': policy(port), 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer',
  });
  return createReadStream(full).pipe(response);
}

function send(response, { status, body, headers }) {
  const kind = body?.code ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': kind, 'cache-control': 'no-store', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body) ?? '');
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString();
  return text === '' ? {} : JSON.parse(text);
}

/** Starts it on a free port, or on `port`. */
export async function start({ port = 0, login = 'stand-in' } = {}) {
  const sales = new Sales();
  const users = new Users();
  const table = routes(sales, users, () => ({ port: server.address().port, login }));
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://shop');
    const route = table.find(({ method, pattern }) => method === request.method && pattern.test(url.pathname));
    if (!route) return file(decodeURIComponent(url.pathname), server.address().port, response);
    try {
      const user = route.who === 'nobody' ? null : users.of(request.headers, route.who === 'operator');
      const path = route.pattern.exec(url.pathname).slice(1).map(decodeURIComponent);
      const answer = await route.answer({ path, user, url, headers: request.headers, body: () => bodyOf(request) });
      sales.count(answer.status === 202 ? 'accepted' : 'ok');
      return send(response, answer);
    } catch (error) {
      if (!(error instanceof Answer)) console.error(error);
      const answer = error instanceof Answer ? error : new Answer(500, { code: 'internal', status: 500, title: 'internal' });
      if (answer.body?.code) sales.count(answer.body.code);
      return send(response, answer);
    }
  });
  const sockets = new WebSocketServer({ server, path: '/push' });
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
  await new Promise((done) => {
    server.listen(port, '127.0.0.1', done);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sales,
    async stop() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((done) => {
        server.close(done);
      });
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, sales } = await start({ port: 8080 });
  const { demo } = await import('./demo.js');
  demo(sales);
  console.log(url);
}
