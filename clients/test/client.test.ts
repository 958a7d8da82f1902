// The client without a system: every answer is made up, and time passes when the test says so.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type BuyOptions,
  type ClientOptions,
  FlashSaleClient,
  type OpenSocket,
  type PurchaseState,
  type Reservation,
  type Retry,
} from '../typescript/src/index.ts';
import { type Answer, all, answered, json, passing, problem, statuses } from './answers.js';

const ID = 'lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff';
const CHALLENGE = '0198f0b2a4c57d1e8f00aabbccddeeff';
const PASS = 'A'.repeat(63);
const LATER = '2099-01-01T00:00:00Z';
const RESERVED = { reservation_id: ID, unit: 7, reserved_at: LATER };
const QUEUED = { ...RESERVED, status: 'queued', poll_after_ms: 500 };
const PENDING = { ...RESERVED, status: 'pending_payment', price_minor: 990, currency: 'EUR', pay_by: LATER, poll_after_ms: 10_000 };
const PAID = { ...RESERVED, status: 'paid', price_minor: 990, currency: 'EUR', ended_at: LATER };
const GRANTED = { ...RESERVED, status: 'granted', price_minor: 0, currency: 'EUR' };
const WORK = { challenge_id: CHALLENGE, kind: 'work', kinds: ['picture', 'work'], expires_at: LATER };

const gateway = (status: number, message: string) =>
  new Response(JSON.stringify({ message }), { status, headers: { 'content-type': 'application/json' } });
const broken = () => new TypeError('fetch failed');

const USUAL: Record<string, () => Response> = {
  challenge: () => json(201, { ...WORK, work: { bits: 4 } }),
  answer: () => json(201, { token: PASS, expires_at: LATER, reserve_path: `/v1/sales/lamp/reservations/${PASS}` }),
  reserve: () => json(202, { reservation_id: ID, status: 'queued' }),
  look: () => json(200, PAID),
};

/** Such a client, its retries, and the idempotency keys that it sends. */
function clientOf(answers: Record<string, Answer[]> = {}, options: Partial<ClientOptions> = {}) {
  const retries: Retry[] = [];
  const { of, ...more } = answered(answers, USUAL, { onRetry: (retry) => retries.push(retry), ...options });
  const keys = () => of('reserve').map(({ request }) => request.headers.get('idempotency-key'));
  return { ...more, of, retries, keys };
}

const buy = (client: FlashSaleClient, options: BuyOptions = {}): Promise<PurchaseState[]> => passing(all(client.buy('lamp', options)));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a purchase', () => {
  test('goes from the challenge to the end', async () => {
    const { client, requests, of } = clientOf({ look: [json(200, QUEUED), json(200, PENDING), json(200, PENDING), json(200, PAID)] });
    expect(statuses(await buy(client))).toEqual(['challenged', 'admitted', 'queued', 'pending_payment', 'paid']);
    expect(await of('challenge')[0]?.request.json()).toEqual({ kind: 'work' });
    const { challenge_id, answer } = JSON.parse(String(await of('answer')[0]?.request.text()));
    expect(challenge_id).toBe(CHALLENGE);
    expect((createHash('sha256').update(`${CHALLENGE}:${answer}`).digest()[0] as number) >> 4).toBe(0);
    expect(new URL(of('reserve')[0]?.request.url as string).pathname).toBe(`/v1/sales/lamp/reservations/${PASS}`);
    for (const { request } of requests) expect(request.headers.get('authorization')).toBe('Bearer token');
  });

  test('is one attempt however often the answer gets lost', async () => {
    const lost = [
      broken(),
      problem(503, 'overloaded', { reservation_id: ID }, { 'retry-after': '3' }),
      problem(429, 'rate_limited', {}, { 'retry-after': '7' }),
      gateway(500, 'Internal Server Error'),
      gateway(503, 'Service Unavailable'),
    ];
    const { client, keys, retries } = clientOf({ reserve: lost });
    expect(statuses(await buy(client))).toContain('paid');
    expect(keys()).toHaveLength(6);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[!-~]{1,64}$/);
    expect(retries.map(({ status }) => status)).toEqual([undefined, 503, 429, 500, 503]);
    expect(retries[1]?.delayMs).toBeGreaterThanOrEqual(3_000);
    expect(retries[2]?.delayMs).toBeGreaterThanOrEqual(7_000);
    expect(retries[2]?.delayMs).toBeLessThanOrEqual(7_000 * 1.25);
  });

  test('keeps the key that it is given, and makes another one for each', async () => {
    const { client, keys } = clientOf();
    const purchase = client.buy('lamp', { idempotencyKey: 'mine' });
    expect(purchase.idempotencyKey).toBe('mine');
    await passing(all(purchase));
    await buy(client);
    await buy(client);
    expect(keys()[0]).toBe('mine');
    expect(new Set(keys()).size).toBe(3);
  });

  test('gives up in time, and names the route without the pass, which is a credential', async () => {
    const { client, of, retries } = clientOf({ reserve: Array.from({ length: 99 }, broken) }, { giveUpAfterMs: 20_000 });
    const url = 'https://shop.example/v1/sales/lamp/reservations/{token}';
    const error = { name: 'NoAnswerError', message: `no answer to POST ${url}`, cause: { message: 'fetch failed' } };
    await expect(buy(client)).rejects.toMatchObject(error);
    const tries = of('reserve').map(({ at }) => at);
    expect(tries.length).toBeGreaterThan(4);
    expect((tries.at(-1) as number) - (tries[0] as number)).toBeLessThanOrEqual(20_000);
    expect(of('reserve')[0]?.request.url).toContain(PASS);
    expect(new Set(retries.map((retry) => retry.url))).toEqual(new Set([url]));
    const reading = clientOf({ look: Array.from({ length: 99 }, broken) }, { giveUpAfterMs: 20_000 });
    await expect(passing(reading.client.reservation(ID))).rejects.toThrow(`no answer to GET https://shop.example/v1/reservations/${ID}`);
  });

  test('does not wait for what comes too late', async () => {
    const { client, of } = clientOf({ reserve: [problem(503, 'paused', {}, { 'retry-after': '90' })] });
    await expect(buy(client)).rejects.toMatchObject({ name: 'ProblemError', code: 'paused', status: 503 });
    expect(of('reserve')).toHaveLength(1);
  });

  test.each([
    ['answer', 409, 'sold_out', { next_release_at: LATER }],
    ['reserve', 409, 'sold_out', {}],
    ['reserve', 409, 'limit_reached', { reservation_ids: [ID] }],
    ['reserve', 409, 'unpaid_limit', {}],
    ['challenge', 409, 'not_open', { opens_at: LATER }],
    ['challenge', 410, 'closed', {}],
  ])('%s: %i %s is a state, and is not asked for again', async (what, status, code, more) => {
    const { client, of } = clientOf({ [what]: [problem(status, code, more, { 'retry-after': '1' })] });
    expect((await buy(client)).at(-1)).toEqual({ status: 'refused', refusal: { status, title: code, code, ...more } });
    expect(of(what)).toHaveLength(1);
  });

  test.each([
    ['challenge', 404, 'unknown_sale'],
    ['challenge', 403, 'blocked'],
    ['reserve', 400, 'invalid_request'],
    ['reserve', 500, 'internal'],
  ])('%s: %i %s is an error, and is not asked for again', async (what, status, code) => {
    const { client, of } = clientOf({ [what]: [problem(status, code, { detail: 'more about it' })] });
    const message = `${status} ${code}: more about it`;
    await expect(buy(client)).rejects.toMatchObject({ name: 'ProblemError', code, status, message });
    expect(of(what)).toHaveLength(1);
  });

  test('what the gateway says without a code has one', async () => {
    const { client } = clientOf({ challenge: [gateway(403, 'Forbidden')] });
    await expect(buy(client)).rejects.toMatchObject({ code: 'forbidden', status: 403, problem: { message: 'Forbidden' } });
  });

  const PICTURE = { ...WORK, kind: 'picture', kinds: ['picture'], picture: 'data:image/png;base64,AA==' };

  test('a sale that asks nothing is answered with the id alone', async () => {
    const { client, of } = clientOf({ challenge: [json(201, { ...WORK, kind: 'none', kinds: ['none'] })] });
    const answerPicture = vi.fn();
    expect(statuses(await buy(client, { answerPicture }))).toContain('paid');
    expect(await of('answer')[0]?.request.json()).toEqual({ challenge_id: CHALLENGE });
    expect(answerPicture).not.toHaveBeenCalled();
  });

  test('a picture is for the caller to answer, and again if it was wrong', async () => {
    const { client, of } = clientOf({
      challenge: [json(201, PICTURE), json(201, PICTURE), json(201, PICTURE)],
      answer: [problem(403, 'wrong_answer'), problem(409, 'challenge_over')],
    });
    const asked: boolean[] = [];
    const answerPicture = (challenge: { picture: string }, { wrong }: { wrong: boolean }) => {
      expect(challenge.picture).toBe(PICTURE.picture);
      asked.push(wrong);
      return String(asked.length);
    };
    expect(statuses(await buy(client, { answerPicture })).join()).toBe('challenged,challenged,challenged,admitted,queued,paid');
    expect(asked).toEqual([false, true, false]);
    expect(await of('challenge')[0]?.request.json()).toEqual({});
    expect(await of('answer')[2]?.request.json()).toEqual({ challenge_id: CHALLENGE, answer: '3' });
  });

  test('wrong answers have an end', async () => {
    const { client, of } = clientOf({ answer: Array.from({ length: 99 }, () => problem(403, 'wrong_answer')) });
    await expect(buy(client)).rejects.toMatchObject({ code: 'wrong_answer' });
    expect(of('answer')).toHaveLength(5);
  });

  test('a picture that nobody can answer is an error', async () => {
    const { client } = clientOf({ challenge: [json(201, PICTURE)] });
    await expect(buy(client)).rejects.toThrow('answerPicture');
  });

  test('a pass that has ended: another challenge, the same key', async () => {
    const { client, keys, of } = clientOf({ reserve: [problem(403, 'bad_token'), problem(403, 'bad_token')] });
    expect(statuses(await buy(client)).at(-1)).toBe('paid');
    expect(new Set(keys()).size).toBe(1);
    expect(of('challenge')).toHaveLength(3);
    const { client: never, of: ofNever } = clientOf({ reserve: Array.from({ length: 99 }, () => problem(403, 'bad_token')) });
    await expect(buy(never)).rejects.toMatchObject({ code: 'bad_token' });
    expect(ofNever('reserve')).toHaveLength(5);
  });

  test('a pass of an earlier call needs no challenge', async () => {
    const { client, of } = clientOf();
    const admission = { token: PASS, expires_at: LATER, reserve_path: `/v1/sales/lamp/reservations/${PASS}` };
    expect(statuses(await buy(client, { admission }))).toEqual(['queued', 'paid']);
    expect(of('challenge')).toHaveLength(0);
  });

  test('whoever stops in the middle asks no more', async () => {
    const { client, requests } = clientOf({ look: [json(200, PENDING)] });
    await passing(
      (async () => {
        for await (const { status } of client.buy('lamp')) if (status === 'pending_payment') break;
      })(),
    );
    const asked = requests.length;
    await vi.advanceTimersByTimeAsync(100_000);
    expect(requests).toHaveLength(asked);
  });
});

describe('the signal ends', () => {
  const reason = new Error('enough');
  const hangs = (request: Request) =>
    new Promise<Response>((_, stop) => {
      request.signal.addEventListener('abort', () => stop(request.signal.reason));
    });

  test.each([
    ['a request', { challenge: [hangs] }, {}],
    ['the wait before a repetition', { reserve: [problem(503, 'overloaded', {}, { 'retry-after': '15' })] }, {}],
    ['the work', { challenge: [json(201, { ...WORK, work: { bits: 32 } })] }, {}],
    ['the wait for the next look', { look: [json(200, PENDING)] }, {}],
  ] as [string, Record<string, Answer[]>, object][])('%s', async (_, answers) => {
    const stop = new AbortController();
    const { client, requests } = clientOf(answers);
    setTimeout(() => stop.abort(reason), 40);
    await expect(buy(client, { signal: stop.signal })).rejects.toBe(reason);
    const asked = requests.length;
    await vi.advanceTimersByTimeAsync(100_000);
    expect(requests).toHaveLength(asked);
  });
});

describe('requests', () => {
  test('a token that is refused is renewed once', async () => {
    const asked: (string | undefined)[] = [];
    const getToken = ({ rejected }: { rejected?: string }) => {
      asked.push(rejected);
      return rejected ? 'new' : 'old';
    };
    const refused = () => gateway(401, 'Unauthorized');
    const { client, requests } = clientOf({ 'GET /v1/orders': [refused(), json(200, { orders: [] })] }, { getToken });
    expect(await passing(client.orders())).toEqual({ orders: [] });
    expect(asked).toEqual([undefined, 'old']);
    expect(requests.map(({ request }) => request.headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new']);
    const { client: same, requests: sameRequests } = clientOf({ 'GET /v1/orders': [refused()] });
    await expect(passing(same.orders())).rejects.toMatchObject({ code: 'unauthorized' });
    expect(sameRequests).toHaveLength(1);
  });

  test('only what may be repeated is', async () => {
    const create = 'POST /v1/admin/campaigns';
    const body = { campaign_id: 'autumn', title: 'Autumn', sale_ids: ['lamp'] };
    const { client, of } = clientOf({ [create]: [broken()] });
    await expect(passing(client.api.POST('/v1/admin/campaigns', { body }))).rejects.toMatchObject({ name: 'NoAnswerError' });
    expect(of(create)).toHaveLength(1);
    const restock = 'POST /v1/admin/sales/lamp/restock';
    const { client: operator, of: asked } = clientOf({ [restock]: [broken(), problem(409, 'round_changed', { round: 2 })] });
    const params = { path: { sale_id: 'lamp' }, header: { 'Idempotency-Key': 'k' } };
    const { error } = await passing(operator.api.POST('/v1/admin/sales/{sale_id}/restock', { params, body: { round: 1, units: 5 } }));
    expect(error).toMatchObject({ code: 'round_changed', round: 2 });
    expect(asked(restock)).toHaveLength(2);
  });

  test('orders come in pages', async () => {
    const { client, requests } = clientOf({
      'GET /v1/orders': [json(200, { orders: [PAID], next_cursor: '1.x' }), json(200, { orders: [GRANTED] })],
    });
    expect(statuses(await passing(all(client.allOrders())))).toEqual(['paid', 'granted']);
    expect(requests.map(({ request }) => new URL(request.url).search)).toEqual(['', '?cursor=1.x']);
  });

  test('what one has in a sale is found without an id', async () => {
    const reservations = { sale_id: 'lamp', round: 1, reservations: [QUEUED], poll_after_ms: 500 };
    const { client } = clientOf({ 'GET /v1/sales/lamp/reservation': [json(200, reservations)] });
    expect(await passing(client.reservations('lamp'))).toEqual(reservations);
  });

  test('a reservation is given back by its id', async () => {
    const { client } = clientOf({
      [`DELETE /v1/reservations/${ID}`]: [broken(), json(200, { ...RESERVED, status: 'cancelled', ended_at: LATER })],
    });
    expect(await passing(client.cancel(ID))).toMatchObject({ status: 'cancelled' });
  });

  // Real connections, and real time.
  test('an answer that does not come, or breaks in the middle, is none', async () => {
    vi.useRealTimers();
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      if (asked === 1) return;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      if (asked === 2) response.write('{"orders":', () => response.destroy());
      else response.end(JSON.stringify({ orders: [] }).padEnd(100));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const retries: Retry[] = [];
      const client = new FlashSaleClient({ baseUrl, timeoutMs: 3_000, onRetry: (retry) => retries.push(retry) });
      expect(await client.orders()).toEqual({ orders: [] });
      expect(retries.map(({ retry, status }) => ({ retry, status }))).toEqual([{ retry: 1 }, { retry: 2 }]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('following a reservation', () => {
  const pauses = (looks: { at: number }[]) => looks.slice(1).map(({ at }, index) => at - (looks[index]?.at as number));

  test('it asks when the server says', async () => {
    const later = (body: object, poll_after_ms: number) => json(200, { ...body, poll_after_ms });
    const { client, of } = clientOf({ look: [later(QUEUED, 2_000), later(QUEUED, 9_000), later(PENDING, 30_000), json(200, PAID)] });
    expect(statuses(await passing(all(client.watch(ID))))).toEqual(['queued', 'pending_payment', 'paid']);
    expect(pauses(of('look'))).toEqual([2_000, 9_000, 30_000]);
  });

  const unknown = () => problem(404, 'unknown_reservation');

  test('what a failover forgot comes back, and is not given up meanwhile', async () => {
    const { client } = clientOf({ look: [json(200, QUEUED), unknown(), unknown(), json(200, PENDING), json(200, PAID)] });
    expect(statuses(await passing(all(client.watch(ID))))).toEqual(['queued', 'pending_payment', 'paid']);
  });

  test('what was accepted is not given up if a failover forgot it before the first look', async () => {
    const { client, of } = clientOf({ look: [unknown(), unknown(), json(200, PENDING), json(200, PAID)] });
    expect(statuses(await buy(client))).toEqual(['challenged', 'admitted', 'queued', 'pending_payment', 'paid']);
    expect(of('look')).toHaveLength(4);
    expect(of('reserve')).toHaveLength(1);
  });

  test('what nobody has known for a minute, or has never been there, is given up', async () => {
    const forgotten = clientOf({ look: [json(200, QUEUED), ...Array.from({ length: 90 }, unknown)] });
    await expect(passing(all(forgotten.client.watch(ID)))).rejects.toMatchObject({ code: 'unknown_reservation' });
    const looks = forgotten.of('look');
    expect((looks.at(-1)?.at as number) - (looks[1]?.at as number)).toBeGreaterThanOrEqual(60_000);
    const accepted = clientOf({ look: Array.from({ length: 90 }, unknown) });
    await expect(buy(accepted.client)).rejects.toMatchObject({ code: 'unknown_reservation' });
    const again = accepted.of('look');
    expect((again.at(-1)?.at as number) - (again[0]?.at as number)).toBeGreaterThanOrEqual(60_000);
    const never = clientOf({ look: [unknown()] });
    await expect(passing(all(never.client.watch(ID)))).rejects.toMatchObject({ code: 'unknown_reservation' });
    expect(never.of('look')).toHaveLength(1);
  });

  test('an entry of a draw is followed until it is drawn', async () => {
    const drawn = [{ kind: 'entered' }, { kind: 'prize', prize: 'A phone' }].map((award) => ({ ...GRANTED, award, poll_after_ms: 20_000 }));
    const { client } = clientOf({ look: drawn.map((reservation) => json(200, reservation)) });
    const awards = (await passing(all(client.watch(ID)))).map((state: Reservation) => state.status === 'granted' && state.award?.kind);
    expect(awards).toEqual(['entered', 'prize']);
  });
});

describe('push', () => {
  class Socket {
    static all: Socket[] = [];
    onopen: (() => void) | null = null;
    onmessage: ((event: { data: unknown }) => void) | null = null;
    onclose: (() => void) | null = null;
    onerror: (() => void) | null = null;
    closed = false;
    readonly url: string;

    constructor(url: string) {
      this.url = url;
      Socket.all.push(this);
    }

    close() {
      if (this.closed) return;
      this.closed = true;
      this.onclose?.();
    }

    say(message: unknown) {
      this.onmessage?.({ data: typeof message === 'string' ? message : JSON.stringify(message) });
    }
  }
  const PUSHED = { pushUrl: 'wss://push.example/push', WebSocket: Socket as unknown as OpenSocket };

  beforeEach(() => {
    Socket.all = [];
  });

  test('while it is up it hardly asks, and looks at once at news of this reservation', async () => {
    const { client, of } = clientOf({ look: Array.from({ length: 30 }, () => json(200, PENDING)) }, PUSHED);
    const watched = all(client.watch(ID));
    await vi.advanceTimersByTimeAsync(100);
    const [socket] = Socket.all as [Socket];
    expect(socket.url).toBe('wss://push.example/push?token=token');
    socket.onopen?.();
    await vi.advanceTimersByTimeAsync(1);
    const settled = of('look').length;
    expect(settled).toBe(2);
    await vi.advanceTimersByTimeAsync(29_000);
    const noise = ['not json', 'null', '7', { type: 'weather', reservation_id: ID }, { type: 'reservation', reservation_id: `${ID}0` }];
    for (const message of noise) socket.say(message);
    await vi.advanceTimersByTimeAsync(1);
    expect(of('look')).toHaveLength(settled);
    socket.say({ type: 'reservation', reservation_id: ID, status: 'pending_payment' });
    await vi.advanceTimersByTimeAsync(1);
    expect(of('look')).toHaveLength(settled + 1);
    // A connection that is lost: it looks, and asks at the usual pace until there is another one.
    socket.close();
    await vi.advanceTimersByTimeAsync(1);
    expect(of('look')).toHaveLength(settled + 2);
    await vi.advanceTimersByTimeAsync(1_300);
    expect(Socket.all).toHaveLength(2);
    (Socket.all[1] as Socket).onopen?.();
    await vi.advanceTimersByTimeAsync(1);
    expect(of('look')).toHaveLength(settled + 3);
    await vi.advanceTimersByTimeAsync(40_000 * 30);
    expect(statuses(await passing(watched))).toEqual(['pending_payment', 'paid']);
    expect((Socket.all[1] as Socket).closed).toBe(true);
    const connections = Socket.all.length;
    await vi.advanceTimersByTimeAsync(200_000);
    expect(Socket.all).toHaveLength(connections);
  });

  test('a server that refuses connections is left in peace', async () => {
    const { client } = clientOf({ look: Array.from({ length: 100 }, () => json(200, PENDING)) }, PUSHED);
    const stop = new AbortController();
    const watched = all(client.watch(ID, { signal: stop.signal })).catch((error) => error);
    for (let second = 0; second < 200; second += 1) {
      Socket.all.at(-1)?.close();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(Socket.all.length).toBeGreaterThan(4);
    expect(Socket.all.length).toBeLessThan(12);
    stop.abort(new Error('enough'));
    expect(await watched).toMatchObject({ message: 'enough' });
  });
});
