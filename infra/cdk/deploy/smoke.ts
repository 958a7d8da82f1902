import { createHash, createHmac, randomBytes } from 'node:crypto';
import { UsageError } from '../lib/settings.ts';

/** A schedule that runs every minute loads the sale. */
const PATIENCE_MS = 150_000;
const POLL_EVERY_MS = 500;
const TIMEOUT_MS = 15_000;
const PRICE = { price_minor: 100, currency: 'EUR' };

export interface Shop {
  /** Where buyers go: the edge, or the gateway without one. */
  url: string;
  token: (role: 'buyer' | 'operator') => Promise<string>;
  /** The key that signs payments. */
  paymentKey: () => Promise<string>;
  /** Loads the sale now. Without it the schedule does, within a minute. */
  load?: () => Promise<void>;
  say: (line: string) => void;
}

class Refused extends UsageError {
  readonly status: number;

  constructor(method: string, path: string, status: number, body: string) {
    super(`${method} ${path} was answered with ${status}: ${body.slice(0, 500)}`);
    this.status = status;
  }
}

/**
 * Creates a sale, buys its only unit, from the challenge to the paid order, and closes it. Only its buyer sees the sale, who is
 * in a group for that long.
 */
export async function smoke({ url, token, paymentKey, load, say }: Shop): Promise<void> {
  const sale = `smoke-${Date.now().toString(36)}`;
  const ask = async (method: string, path: string, { as, body, headers }: { as?: string; body?: object; headers?: Record<string, string> } = {}): Promise<any> => {
    const response = await reach(`${url}${path}`, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(method, path, response.status, text);
    return text === '' ? undefined : JSON.parse(text);
  };
  const [operator, buyer] = [await token('operator'), await token('buyer')];
  const group = `/v1/admin/groups/${sale}/users`;
  const users = { users: [userOf(buyer)] };
  // Before the sale, so that nobody has cached the group without its user.
  await ask('POST', group, { as: operator, body: users });
  const now = Date.now();
  await ask('POST', '/v1/admin/sales', {
    as: operator,
    body: {
      sale_id: sale,
      title: 'Smoke test',
      total: 1,
      per_user_limit: 1,
      payment_window_s: 300,
      opens_at: new Date(now - 1_000).toISOString(),
      closes_at: new Date(now + 15 * 60_000).toISOString(),
      gate: { groups_see: [sale], groups_buy: [sale] },
      ...PRICE,
    },
  });
  say(`an operator has created the sale ${sale} with one unit, which only its buyer sees`);
  try {
    await ask('POST', `/v1/admin/sales/${sale}/publish`, { as: operator });
    await load?.();
    const path = `/v1/sales/${sale}`;
    const challenge = await until('the sale to open', async () => {
      try {
        return await ask('POST', `${path}/challenges`, { as: buyer, body: { kind: 'work' } });
      } catch (error) {
        // It is not loaded yet, or a process has not read it yet.
        if (error instanceof Refused && [404, 409, 429, 502, 503, 504].includes(error.status)) return undefined;
        throw error;
      }
    });
    const answer = work(challenge.challenge_id, challenge.work.bits);
    const pass = await ask('POST', `${path}/tokens`, { as: buyer, body: { challenge_id: challenge.challenge_id, answer } });
    say('the gate has admitted a buyer');
    const { reservation_id: id } = await ask('POST', pass.reserve_path, { as: buyer, headers: { 'idempotency-key': sale } });
    say(`the buyer has the reservation ${id}`);
    const status = async (): Promise<string> => (await ask('GET', `/v1/reservations/${id}`, { as: buyer })).status;
    const reaches = (wanted: string) => until(`the order to be ${wanted}`, async () => ((await status()) === wanted ? true : undefined));
    await reaches('pending_payment');
    say('its order waits for payment');
    await pay({ url, key: await paymentKey(), id, ...PRICE });
    await reaches('paid');
    say('it is paid');
  } finally {
    // It has sold its unit, or must not sell it.
    await ask('POST', `/v1/admin/sales/${sale}/close`, { as: operator, body: { round: 1 } }).catch((error: Error) => {
      say(`the sale ${sale} could not be closed, and ends by itself in a quarter of an hour: ${error.message}`);
    });
    await ask('POST', `${group}/remove`, { as: operator, body: users }).catch((error: Error) => {
      say(`the group ${sale} still has its user: ${error.message}`);
    });
  }
}

/** The user of a token, under the system's name. */
function userOf(token: string): string {
  const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as { sub?: unknown };
  if (typeof sub !== 'string') throw new UsageError('the token of the buyer has no `sub`: it must be a JWT that the shop accepts');
  return sub;
}

/** Sends a request, and says which host did not answer. */
async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { message, cause } = error as Error;
    throw new UsageError(`${new URL(url).host} does not answer: ${cause instanceof Error ? cause.message : message}`);
  }
}

/** Sends what the payment provider would send, signed as Standard Webhooks specifies. */
export async function pay({ url, key, id, price_minor, currency }: { url: string; key: string; id: string; price_minor: number; currency: string }): Promise<void> {
  const message = `pay-${randomBytes(12).toString('hex')}`;
  const timestamp = Math.floor(Date.now() / 1_000);
  const data = { payment_id: message, reservation_id: id, price_minor, currency };
  const body = JSON.stringify({ type: 'payment.succeeded', timestamp: new Date().toISOString(), data });
  const signature = createHmac('sha256', key).update(`${message}.${timestamp}.${body}`).digest('base64');
  const response = await reach(`${url}/v1/payments/webhook`, {
    method: 'POST',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      'webhook-id': message,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  });
  const text = await response.text();
  if (!response.ok || JSON.parse(text).outcome !== 'applied') throw new UsageError(`the payment was answered with ${response.status}: ${text}`);
}

/** The first number whose digest begins with this many zero bits. */
export function work(challenge: string, bits: number): string {
  for (let answer = 0; ; answer += 1) {
    const digest = createHash('sha256').update(`${challenge}:${answer}`).digest();
    if (Math.clz32(digest.readUInt32BE()) >= bits) return String(answer);
  }
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new UsageError(`${what} took longer than ${PATIENCE_MS / 1_000} s`);
    await new Promise((go) => setTimeout(go, POLL_EVERY_MS));
  }
}
