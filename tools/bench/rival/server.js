// A flash sale as tutorials build it: Fastify, a Lua script, a Redis stream, and a worker that writes orders into SQLite.
// `bench rival` measures it beside ours. It is meant to be plain, not slow.

import { createPublicKey, randomUUID } from 'node:crypto';
import { isMainThread, Worker } from 'node:worker_threads';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import jwt from 'jsonwebtoken';
import Database from 'libsql';

const { AUDIENCE, DATABASE, ISSUER, PORT, REDIS_URL } = process.env;
const ORDERS = 'orders';
const GROUP = 'workers';
const BATCH = 500;
const WORKER_WAITS_MS = 1_000;
const KEYS_TIMEOUT_MS = 5_000;

const RESERVE = `
local left = tonumber(redis.call('GET', KEYS[1]))
if not left then return 'unknown_sale' end
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return 'limit_reached' end
if left < 1 then return 'sold_out' end
redis.call('DECR', KEYS[1])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('XADD', KEYS[3], '*', 'id', ARGV[2], 'user', ARGV[1], 'sale', ARGV[3])
return 'reserved'`;

const STATUS = { reserved: 202, unknown_sale: 404, limit_reached: 409, sold_out: 409 };
const SALE = { type: 'string', pattern: '^[a-z0-9-]{1,64}$' };

function openDatabase() {
  const database = new Database(DATABASE);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('busy_timeout = 5000');
  database.exec(
    'CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, sale TEXT NOT NULL, user TEXT NOT NULL, UNIQUE (sale, user))',
  );
  return database;
}

/** The keys that the issuer publishes, by their ids. */
async function publishedKeys() {
  const answer = await fetch(`${ISSUER}/.well-known/jwks.json`, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) });
  const { keys } = await answer.json();
  return new Map(keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]));
}

async function serve() {
  const database = openDatabase();
  const ordered = database.prepare('SELECT count(*) AS orders FROM orders WHERE sale = ?');
  const redis = new Redis(REDIS_URL);
  redis.defineCommand('reserve', { numberOfKeys: 3, lua: RESERVE });
  const keys = await publishedKeys();
  const app = Fastify();
  app.decorateRequest('claims', null);

  const withToken = async (request, reply) => {
    try {
      const token = request.headers.authorization?.replace(/^Bearer /i, '');
      const key = keys.get(jwt.decode(token, { complete: true })?.header.kid);
      request.claims = jwt.verify(token, key, { algorithms: ['RS256'], issuer: ISSUER, audience: AUDIENCE });
    } catch {
      return reply.code(401).send({ code: 'unauthorized' });
    }
  };
  const asOperator = async (request, reply) => {
    if (!request.claims.groups?.includes('operators')) return reply.code(403).send({ code: 'forbidden' });
  };

  const body = { type: 'object', required: ['sale'], properties: { sale: SALE } };
  app.post('/reserve', { onRequest: withToken, schema: { body } }, async (request, reply) => {
    const { sale } = request.body;
    const id = randomUUID();
    const code = await redis.reserve(`stock:${sale}`, `buyers:${sale}`, ORDERS, request.claims.sub, id, sale);
    return reply.code(STATUS[code]).send(code === 'reserved' ? { id } : { code });
  });

  const params = { type: 'object', properties: { sale: SALE } };
  app.get('/stock/:sale', { schema: { params } }, async (request, reply) => {
    const { sale } = request.params;
    const left = await redis.get(`stock:${sale}`);
    if (left === null) return reply.code(404).send({ code: 'unknown_sale' });
    return { left: Number(left), orders: ordered.get(sale).orders };
  });

  const units = { type: 'object', required: ['units'], properties: { units: { type: 'integer', minimum: 1 } } };
  app.put('/stock/:sale', { onRequest: [withToken, asOperator], schema: { params, body: units } }, async (request) => {
    await redis.set(`stock:${request.params.sale}`, request.body.units, 'NX');
    return {};
  });

  console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: Number(PORT) })}`);
}

/** Turns what is in the stream into orders. What it had not finished when it died comes first. */
async function work() {
  const database = openDatabase();
  const insert = database.prepare('INSERT OR IGNORE INTO orders (id, user, sale) VALUES (?, ?, ?)');
  const write = database.transaction((messages) => {
    for (const [, [, id, , user, , sale]] of messages) insert.run(id, user, sale);
  });
  const redis = new Redis(REDIS_URL);
  await redis.xgroup('CREATE', ORDERS, GROUP, '0', 'MKSTREAM').catch((error) => {
    if (!error.message.startsWith('BUSYGROUP')) throw error;
  });
  let from = '0';
  for (;;) {
    const read = await redis.xreadgroup(
      ...['GROUP', GROUP, 'worker', 'COUNT', BATCH, 'BLOCK', WORKER_WAITS_MS, 'STREAMS', ORDERS, from],
    );
    const messages = read?.[0][1] ?? [];
    if (messages.length === 0) {
      from = '>';
      continue;
    }
    write(messages);
    const ids = messages.map(([id]) => id);
    await redis.multi().xack(ORDERS, GROUP, ...ids).xdel(ORDERS, ...ids).exec();
  }
}

if (isMainThread) {
  await serve();
  // An error of the worker ends the process.
  new Worker(new URL(import.meta.url)).on('error', (error) => {
    throw error;
  });
} else {
  await work();
}
