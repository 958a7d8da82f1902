// The way from the button to a reservation, without a page: challenge, answer, token, reservation.

import { clock } from './clock.js';
import { Problem, ask } from './http.js';
import { Purchase } from './purchase.js';
import { SignInCancelled, session } from './session.js';
import { Wait, backoff, jittered } from './timing.js';
import { solve } from './worker.js';

/** Temporary problems. A retry is safe, since it is the same request. */
const PASSING = new Set(['overloaded', 'network']);
/** About three minutes; after that, the user decides. */
const AUTOMATIC_RETRIES = 15;
/** A pass that expires this soon is not used. */
const PASS_MARGIN_MS = 2_000;

const ENDED = ['expired', 'cancelled', 'failed'];

/** Reservations that this tab has received but not shown yet. */
export const accepted = new Set();

/** The state of a purchase. Calls `change` after `stage` has changed. */
export class Buying extends EventTarget {
  stage = { name: 'idle' };
  #sale;
  #signal;
  #purchase = null;
  #retries = 0;
  #wait;
  #run = 0;
  #way;

  /** `sale()` returns the current card; `signal` ends everything; `way()` returns the headers that admission needs. */
  constructor(sale, signal, way) {
    super();
    [this.#sale, this.#signal, this.#way, this.#wait] = [sale, signal, way, new Wait(signal)];
    window.addEventListener('online', () => this.hurry(), { signal });
  }

  /** This user's stored attempt, or null. */
  get purchase() {
    const sale = this.#sale();
    return session.current && sale ? new Purchase(session.current.user, sale.sale_id, sale.round) : null;
  }

  get idle() {
    return this.stage.name === 'idle';
  }

  /** Continues an attempt that a reload interrupted. */
  resume() {
    if (this.idle && this.purchase?.sent && !this.purchase.reservationId) this.buy();
  }

  reset() {
    this.#run += 1;
    this.#stage('idle');
  }

  buy() {
    return this.#step(async () => {
      const isNew = !session.current;
      await session.require();
      // Users who were signed in were looked up on arrival. One who signs in only now may have bought elsewhere.
      if (isNew && (await this.find()) > 0) return this.reset();
      this.#purchase = this.purchase;
      if (this.#purchase.reservationId) this.#purchase.renew();
      this.#purchase.save({});
      const { pass } = this.#purchase;
      if (pass && pass.until - PASS_MARGIN_MS > clock.now()) await this.#reserve();
      else await this.#ask('picture', {});
    });
  }

  /** Asks what the user has in this sale, from any tab or device. Returns the number; null if unknown. */
  async find() {
    const { user } = session.current;
    const { sale_id: sale, round } = this.#sale();
    const before = this.purchase;
    // Stores the key, so that a purchase that begins meanwhile has the same one.
    before.save({});
    const run = this.#run;
    const found = await ask('GET', `/v1/sales/${sale}/reservation`, { signal: this.#signal }).catch(() => null);
    // While restoring, reservations that Redis lost may come back, so none is known to have ended.
    const isKnown = found && !found.restoring && found.round === round && session.current?.user === user;
    // If the user bought meanwhile, here or in another tab, this answer is outdated.
    const isNew = run === this.#run && this.purchase?.key === before.key && !this.purchase.sent;
    if (!isKnown || !isNew || this.#signal.aborted) return null;
    const live = found.reservations.filter(({ status }) => !ENDED.includes(status)).map((one) => one.reservation_id);
    this.purchase.has(live.reverse());
    return live.length;
  }

  /** Gets another challenge: `picture` or `work`. */
  challenge(kind) {
    return this.#step(() => this.#ask(kind, {}));
  }

  answer(text) {
    const { challenge } = this.stage;
    return this.#step(() => this.#answer(challenge, text));
  }

  /** Retries at once instead of waiting. */
  hurry() {
    if (this.stage.name === 'retrying') this.#stage('retrying', { ...this.stage, until: clock.now() });
    this.#wait.nudge();
  }

  async #ask(kind, why) {
    const run = this.#run;
    this.#waits('challenge');
    const wish = (body) => ask('POST', `/v1/sales/${this.#sale().sale_id}/challenges`, { body, signal: this.#signal, more: this.#way() });
    const challenge = await (kind === 'work' ? wish({ kind }).catch((error) => {
      // Operators may change what a sale asks while it runs.
      if (error.code !== 'invalid_request') throw error;
      return wish({});
    }) : wish({}));
    if (run !== this.#run) return undefined;
    if (challenge.kind === 'none') return this.#answer(challenge);
    this.#stage(challenge.kind, { challenge, why });
    return challenge.kind === 'work' ? this.#solve(challenge, run) : undefined;
  }

  async #solve(challenge, run) {
    const stop = new AbortController();
    this.addEventListener('change', () => stop.abort(), { once: true, signal: this.#signal });
    const progress = (part) => this.dispatchEvent(Object.assign(new Event('progress'), { part }));
    try {
      const task = { id: challenge.challenge_id, bits: challenge.work.bits };
      const answer = await solve(task, progress, AbortSignal.any([this.#signal, stop.signal]));
      if (run === this.#run) await this.#answer(challenge, answer);
    } catch (error) {
      if (!stop.signal.aborted || run === this.#run) throw error;
    }
  }

  async #answer(challenge, answer) {
    this.#waits('check');
    const body = { challenge_id: challenge.challenge_id, answer };
    const sale = this.#sale().sale_id;
    try {
      const pass = await ask('POST', `/v1/sales/${sale}/tokens`, { body, signal: this.#signal, more: this.#way() });
      this.#purchase.save({ pass: { path: pass.reserve_path, until: Date.parse(pass.expires_at) } });
    } catch (error) {
      if (error.code === 'wrong_answer') return this.#ask(challenge.kind, { wrong: true });
      // It took too long, or another tab was faster: not the buyer's mistake.
      if (error.code === 'challenge_over') return this.#ask(challenge.kind, {});
      throw error;
    }
    return this.#reserve();
  }

  async #reserve() {
    this.#waits('reserve');
    const purchase = this.#purchase;
    purchase.save({ sent: true });
    try {
      const { reservation_id: id } = await ask('POST', purchase.pass.path, { key: purchase.key, signal: this.#signal });
      purchase.save({ sent: false, pass: null, reservationId: id });
      purchase.own([id]);
      accepted.add(id);
      this.#stage('done', { id });
    } catch (error) {
      if (error.code === 'bad_token') {
        purchase.save({ pass: null });
        return this.#ask('picture', { over: true });
      }
      // After a clear refusal, a reload should not continue the attempt.
      if (error instanceof Problem && !PASSING.has(error.code) && error.status < 500) purchase.save({ sent: false });
      if (error.code === 'limit_reached') purchase.own(error.members.reservation_ids ?? []);
      throw error;
    }
    return undefined;
  }

  async #step(step) {
    const run = (this.#run += 1);
    const user = session.current?.user;
    const live = () => run === this.#run && !this.#signal.aborted;
    this.#retries = 0;
    for (let next = step; next && live();) {
      try {
        await next();
        return;
      } catch (error) {
        if (!live()) return;
        // Another user has signed in since: the attempt does not belong to them.
        const mine = user === undefined || user === session.current?.user;
        next = mine ? await this.#afterwards(error, step) : () => this.reset();
      }
    }
  }

  /** After a failure: the step to retry, or null. */
  async #afterwards(error, step) {
    if (error instanceof SignInCancelled) {
      this.#stage('signed_out');
      return null;
    }
    const problem = error instanceof Problem ? error : new Problem('internal');
    if (!PASSING.has(problem.code) || this.#retries >= AUTOMATIC_RETRIES) {
      this.#stage('problem', { problem, at: clock.now() });
      return null;
    }
    const ms = jittered(Math.max(backoff(this.#retries), (problem.retryAfterS ?? 0) * 1000));
    this.#retries += 1;
    this.#stage('retrying', { problem, until: clock.now() + ms });
    const again = this.#purchase?.sent && this.#purchase.pass ? () => this.#reserve() : step;
    await this.#wait.for(ms);
    return again;
  }

  /** Waits for an answer. While retrying, the problem stays until there is one: without it, the page would jump with every retry. */
  #waits(what) {
    if (this.stage.name !== 'retrying') this.#stage('waiting', { what });
  }

  #stage(name, more = {}) {
    this.stage = { name, ...more };
    this.dispatchEvent(new Event('change'));
  }
}
