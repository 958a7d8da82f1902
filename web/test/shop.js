// The shop under test: a real one at SHOP_URL, or the stand-in in test/dev. Everything else uses the public API.

import { setTimeout as sleep } from 'node:timers/promises';
import { leadingZeros, message, sha256 } from '../../clients/typescript/src/sha256.js';

/** A schedule loads sales into Redis every minute. */
const PATIENCE_MS = 90_000;
const POLL_EVERY_MS = 200;
/** The easiest proof of work that a sale may ask for: the default takes a busy machine many seconds, and few tests are about it. */
const EASY_WORK_BITS = 12;
/** The stand-in loads sales at once, but pages need time to load. */
const AT_ONCE_MS = 6_000;

/** Starts the stand-in unless SHOP_URL names a shop. */
export async function openShop(options = {}) {
  if (process.env.SHOP_URL) return new Shop(process.env.SHOP_URL.replace(/\/$/, ''), async () => {});
  const { start } = await import('./dev/server.js');
  const { url, stop } = await start(options);
  return new Shop(url, stop);
}

let names = 0;
/** A name that nothing else has. */
export const fresh = (kind) => `${kind}-${process.pid}-${Date.now().toString(36)}-${(names += 1)}`;

class Shop {
  constructor(url, stop) {
    this.url = url;
    this.stop = stop;
    /** The shortest time from publication after which a sale is sure to open on time. */
    this.loadsWithinMs = process.env.SHOP_URL ? Number(process.env.LOADS_WITHIN_MS ?? PATIENCE_MS) : AT_ONCE_MS;
  }

  async ask(method, path, { token, body, key, headers = {} } = {}) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...headers,
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(key ? { 'idempotency-key': key } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body ? JSON.stringify(body) : undefined,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  async login(user, operator = false) {
    const { body } = await this.ask('POST', '/stand-in/login', { body: { user, ...(operator ? { operator } : {}) } });
    return body.token;
  }

  async operate(method, path, body) {
    this.operator ??= await this.login('operator', true);
    const answer = await this.ask(method, path, { token: this.operator, body, key: fresh('key') });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Updates the first round of a sale. */
  update(sale_id, how, more = {}) {
    return this.operate('POST', `/v1/admin/sales/${sale_id}/${how}`, { round: 1, ...more });
  }

  user() {
    return fresh('buyer');
  }

  /** Creates a sale and waits until it is visible, and open unless it opens later. */
  async sell({ sale_id = fresh('lamp'), opensInMs = -60_000, lastsMs = 3_600_000, published = true, gate, ...terms } = {}) {
    const at = (ms) => new Date(Date.now() + ms).toISOString();
    await this.operate('POST', '/v1/admin/sales', {
      sale_id, title: 'Enamel lamp', opens_at: at(opensInMs), closes_at: at(opensInMs + lastsMs), total: 10, per_user_limit: 1,
      price_minor: 18_900, currency: 'EUR', payment_window_s: 900, gate: { work_bits: EASY_WORK_BITS, ...gate }, ...terms,
    });
    if (!published) return sale_id;
    await this.operate('POST', `/v1/admin/sales/${sale_id}/publish`, {});
    await this.until(async () => {
      const { status, body } = await this.ask('GET', `/v1/sales/${sale_id}`);
      return status === 200 && body.availability !== 'unknown' && (opensInMs > 0 || body.state === 'open');
    });
    await this.until(() => this.#isAtTheDoor(sale_id));
    return sale_id;
  }

  /** Each process at the door learns of a sale separately, on request: some seconds after it is visible. */
  async #isAtTheDoor(sale_id) {
    const token = await this.login(this.user());
    const asks = Array.from({ length: 3 }, () => this.ask('POST', `/v1/sales/${sale_id}/challenges`, { token, body: { kind: 'work' } }));
    return (await Promise.all(asks)).every(({ status }) => status !== 404);
  }

  async campaign(sale_ids, title = 'Lamp days') {
    const campaign_id = fresh('days');
    await this.operate('POST', '/v1/admin/campaigns', { campaign_id, title, sale_ids });
    return campaign_id;
  }

  /**
   * Buys with the API, like another client, and returns `{id, user, token}`. `headers` are sent when requesting the challenge and the
   * pass. If something is refused, the error has the `problem`.
   */
  async buy(sale_id, user = this.user(), headers = {}) {
    const token = await this.login(user);
    const path = `/v1/sales/${sale_id}`;
    const step = async (to, asked) => {
      const { status, body } = await this.ask('POST', to, { token, ...asked });
      if (status >= 300) throw Object.assign(new Error(`POST ${to}: ${status} ${JSON.stringify(body)}`), { problem: body });
      return body;
    };
    const challenge = await step(`${path}/challenges`, { headers, body: { kind: 'work' } });
    const text = message(`${challenge.challenge_id}:`);
    let answer = 0;
    while (leadingZeros(sha256(text, String(answer))) < challenge.work.bits) answer += 1;
    const pass = await step(`${path}/tokens`, { headers, body: { challenge_id: challenge.challenge_id, answer: String(answer) } });
    const { reservation_id: id } = await step(pass.reserve_path, { key: fresh('key') });
    return { id, user, token };
  }

  /** Buys this many units, each for another user. */
  async buyers(sale_id, count) {
    const bought = [];
    for (let n = 0; n < count; n += 1) bought.push(await this.buy(sale_id));
    return bought;
  }

  giveBack({ id, token }) {
    return this.ask('DELETE', `/v1/reservations/${id}`, { token });
  }

  /** Pays, and returns the outcome. */
  async pay({ id }, price_minor = 18_900) {
    const { body } = await this.ask('POST', '/stand-in/pay', { body: { reservation_id: id, price_minor, currency: 'EUR' } });
    return body.outcome;
  }

  /** Waits until each of these purchases has this status. */
  untilAll(bought, status) {
    const stands = async ({ id, token }) => (await this.ask('GET', `/v1/reservations/${id}`, { token })).body.status;
    return this.until(async () => (await Promise.all(bought.map(stands))).every((one) => one === status));
  }

  /** Waits until `done` answers something true, and answers it. What it throws means "not yet", and is told if it stays so. */
  async until(done) {
    const end = Date.now() + PATIENCE_MS;
    for (let why = null; ; ) {
      try {
        const answer = await done();
        if (answer) return answer;
      } catch (error) {
        why = error;
      }
      if (Date.now() > end) throw new Error('timed out', { cause: why });
      await sleep(POLL_EVERY_MS);
    }
  }
}
