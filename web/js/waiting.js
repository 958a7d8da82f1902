// Waiting in the line of a sale, without a page: the ticket, the line's watermark, and whether it is the user's turn.

import { isHex } from '../../clients/typescript/src/hash.js';
import { WHOLE_PPB, admits, before, commitmentOf, further, placeOf, placePpb, readTicket, rounded, waitS } from '../../clients/typescript/src/place.js';
import { clock } from './clock.js';
import { Problem, ask, get, isPassing } from './http.js';
import { store, stored } from './kept.js';
import { SignInCancelled, session } from './session.js';
import { FIRST_RETRY_MS, LONGEST_RETRY_MS, MAX_TIMER_MS, Wait, backoff, jittered } from './timing.js';

const PREFIX = 'line:';
/** Time before the opening that is reserved for retries, at most a quarter of the remaining time. */
const MARGIN_MS = 60_000;
/** Maximum `Retry-After` that is respected: lines do not last long. */
const MOST_RETRY_AFTER_S = 300;
/** Shortest and longest time between two requests. */
const LEAST_PACE_MS = 250;
const MOST_PACE_MS = 300_000;
/** Pace of a line that gives none and is still moving. */
const PACE_MS = 2_000;
/** Caches may serve a document for half a minute. An older one, which is also older than two polls, means that the system is unreachable. */
const STALE_MS = 60_000;
/** Timers of hidden pages may be suspended, so hidden pages get their tickets first. */
const HIDDEN_ASK_MS = 60_000;
/** Polling is slower while the page is hidden, but its title must say when it is the user's turn. */
const HIDDEN_MS = 10_000;
/** How often a visible page checks whether its machine has slept: there is no event for it. */
const AWAKE_MS = 2_000;
const SLEPT_MS = 10_000;
/** For this long after an answer that all is sold, documents may be older than that answer. */
const DOCUMENT_LAG_MS = 2_500;
/** The ticket was refused although the page knows the sale: some process has not loaded it yet. */
const UNHEARD = 'unknown_sale';
/** How often the page goes on to the question without a click if the system refuses the user's turn. */
const MOST_TRIES = 3;

const retryAfterMs = ({ retryAfterS }, otherwiseS = 0) => Math.min(retryAfterS ?? otherwiseS, MOST_RETRY_AFTER_S) * 1000;

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isMoment = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));

/** Whether a line's document has all fields that a page reads, each of the right type. */
function isDocument(line) {
  const { people, admitted, units } = line ?? {};
  return isCount(line?.round) && typeof line.sale === 'string' && typeof line.state === 'string' && isCount(line.poll_after_ms)
    && isHex(line.commitment) && (line.seed === null || (isHex(line.seed) && typeof line.watermark === 'string'))
    && isCount(people?.estimate) && isCount(people.error_percent) && people.error_percent <= 100 && isCount(people.late)
    && isCount(admitted?.early_ppb) && admitted.early_ppb <= WHOLE_PPB && isCount(admitted.late_ppb) && isCount(admitted.late) && isCount(admitted.per_s)
    && (admitted.late_until === null || isMoment(admitted.late_until)) && isMoment(admitted.as_of)
    && isCount(units?.total) && isCount(units.sold) && isCount(units.may_return);
}

/** An action that is retried until it succeeds. */
class Trying {
  trouble = null;
  #failures = 0;

  worked() {
    [this.trouble, this.#failures] = [null, 0];
  }

  /** When to retry. */
  failed(problem) {
    this.trouble = problem;
    const pause = backoff(this.#failures);
    this.#failures += 1;
    return jittered(Math.max(pause, retryAfterMs(problem)));
  }
}

/** All that is known of a line and of the user's place in it. Calls `change` after each change. */
export class Waiting extends EventTarget {
  /** The public state of the line; null until it has been loaded. */
  document = null;
  /** A problem that a retry does not solve. */
  refused = null;
  /** The user was asked to sign in, and did not. */
  isSignedOut = false;
  #card;
  #signal;
  #polls = new Wait();
  #asks = new Wait();
  #looking = new Trying();
  #asking = new Trying();
  #kept = {};
  /** This browser cannot store anything. */
  #isFull = false;
  #retryAt = 0;
  #isLeaving = false;
  #soldOutAt = -Infinity;
  /** How often the system refused the user's turn, and until when watermarks are therefore ignored. */
  #tries = 0;
  #doubtsUntil = 0;
  #checked = null;

  /** `card` belongs to a sale with a line; `signal` ends everything. */
  constructor(card, signal) {
    super();
    [this.#card, this.#signal] = [card, signal];
    const nudge = () => {
      this.#retryAt = 0;
      this.#asks.nudge();
      if (!this.isOver || signal.aborted) this.#polls.nudge();
    };
    window.addEventListener('online', nudge, { signal });
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#leaving() : nudge()), { signal });
    session.addEventListener('change', () => {
      this.#load();
      this.retry();
    }, { signal });
    // Another tab may have got the ticket, or moved on.
    window.addEventListener('storage', ({ key }) => {
      if (key === null || key !== this.#place) return;
      this.#load();
      this.#asks.nudge();
      this.#changed();
    }, { signal });
    let seenAt = Date.now();
    const awake = setInterval(() => {
      const slept = !document.hidden && Date.now() - seenAt > SLEPT_MS;
      seenAt = Date.now();
      if (!slept) return;
      clock.forget();
      nudge();
    }, AWAKE_MS);
    signal.addEventListener('abort', () => {
      clearInterval(awake);
      this.#leaving();
      nudge();
    }, { once: true });
    this.#load();
    this.#keepLooking();
    this.#keepAsking();
  }

  /** Why the last request failed; null if it succeeded. It is retried automatically. */
  get trouble() {
    return this.#asking.trouble ?? this.#looking.trouble ?? (this.#isStale ? new Problem('network') : null);
  }

  get #isStale() {
    const { document: line } = this;
    return line !== null && !this.isOver && clock.now() - Date.parse(line.admitted.as_of) > Math.max(STALE_MS, 2 * line.poll_after_ms);
  }

  get round() {
    return this.#card.round;
  }

  /** Takes the sale's current card: the opening may have moved. */
  set card(card) {
    const moved = card.opens_at !== this.#card.opens_at || card.line.tickets_from !== this.#card.line.tickets_from;
    this.#card = card;
    // A late arrival becomes early if the opening has been postponed since.
    if (moved && this.#kept.ticket && !this.ticket) this.#keep({ ticket: null, watermark: null });
    if (moved) this.#asks.nudge();
    // Operators have added units: the end was not final.
    if (this.isGone && this.document.state === 'sold_out' && card.state === 'open' && /^(available|few_left)$/.test(card.availability)) this.#polls.nudge();
  }

  get opensAt() {
    return Date.parse(this.#card.opens_at);
  }

  get ticketsFrom() {
    return Date.parse(this.#card.line.tickets_from);
  }

  /** `{round, second, user}` of this user and this round, or null. */
  get ticket() {
    return this.#kept.ticket ? this.#read(this.#kept.ticket) : null;
  }

  #read(sealed) {
    const ticket = readTicket(sealed);
    if (ticket === null || ticket.user !== session.current?.user || ticket.round !== this.#card.round) return null;
    return ticket.second !== null && ticket.second < Math.floor(this.opensAt / 1000) ? null : ticket;
  }

  /** Until when the page asks for the ticket by itself before the opening. */
  get askAt() {
    return this.#kept.askAt ?? null;
  }

  /** The user's place in parts per billion; null while it cannot be known. */
  get ppb() {
    const { ticket, document: line } = this;
    return ticket && line?.seed ? placePpb(line.seed, ticket.user) : null;
  }

  /** Whether the line has reached the user. It never moves back. */
  get isTurn() {
    return Boolean(this.#kept.ticket && this.#kept.watermark);
  }

  /** The user's turn has just begun, and nothing has been done about it yet. */
  get isNewTurn() {
    return this.isTurn && !this.#kept.went;
  }

  /** The ticket and the watermark, as headers for requests that need admission. */
  get headers() {
    const { ticket, watermark } = this.#kept;
    return { ...(ticket ? { 'x-line-ticket': ticket } : {}), ...(watermark ? { 'x-line-watermark': watermark } : {}) };
  }

  /** `before`, `moving`, `paused`, `sold_out` or `ended`; null until it is known. It includes what this user was answered a moment ago. */
  get state() {
    const { document: line } = this;
    if ((line?.state === 'moving' || line?.state === 'paused') && Date.parse(line.admitted.as_of) < this.#soldOutAt + DOCUMENT_LAG_MS) return 'sold_out';
    return line?.state ?? null;
  }

  /** The sale is over, and nothing will change any more. */
  get isOver() {
    return this.document?.state === 'ended';
  }

  /** All is sold and nothing will return, although operators may still add units. */
  get isGone() {
    const { document: line } = this;
    return line?.state === 'sold_out' && line.units.may_return === 0 && line.units.sold >= line.units.total;
  }

  /** The user's position among all who came early, as a range from 1; null if unknown, and for late arrivals. */
  get place() {
    const { ppb, ticket, document: line } = this;
    return ppb === null || ticket.second !== null ? null : placeOf(line, ppb);
  }

  /** The approximate number of people ahead of the user, as a range; null if unknown. */
  get before() {
    const { ppb, ticket, document: line } = this;
    return ppb === null ? null : rounded(before(line, ticket, ppb, this.#kept.late));
  }

  /** The approximate wait in seconds at the line's pace; null while the line stands or if unknown. */
  get waitS() {
    const { ppb, ticket, document: line } = this;
    if (ppb === null || this.state !== 'moving') return null;
    return waitS(before(line, ticket, ppb, this.#kept.late), { from: 0, to: 0 }, line.admitted.per_s);
  }

  /** `{holds, noted}`: the order was fixed before anyone came, and this browser noted so before the opening. Null without the seed. */
  get proof() {
    const { document: line } = this;
    if (!line?.seed) return null;
    const as = `${line.sale} ${line.round} ${line.seed} ${line.commitment} ${this.#kept.commitment} ${this.#kept.first}`;
    if (this.#checked?.as !== as) {
      // The first commitment seen after the opening cannot change either.
      const noted = this.#kept.commitment ?? this.#kept.first ?? line.commitment;
      const holds = commitmentOf(line.sale, line.round, line.seed) === line.commitment && noted === line.commitment;
      this.#checked = { as, holds, noted: Boolean(this.#kept.commitment) };
    }
    return this.#checked;
  }

  /** The user goes on to the question; from now on that takes a click. */
  go() {
    this.#keep({ went: true });
  }

  /** The user was answered that nothing is left; the document may not say so yet. */
  soldOut() {
    this.#soldOutAt = clock.now();
    this.#polls.nudge();
  }

  /** The system refused the ticket or the watermark: discards what is stored. */
  turnedAway(problem) {
    this.#tries += 1;
    this.#doubtsUntil = clock.now() + jittered(retryAfterMs(problem, 2));
    const went = this.#tries >= MOST_TRIES;
    if (problem.code === 'no_ticket') {
      this.#keep({ ticket: null, watermark: null, went });
      this.#asks.nudge();
    } else {
      this.#keep({ watermark: null, went });
    }
  }

  /** Retries what has failed. */
  retry() {
    [this.refused, this.isSignedOut, this.#retryAt] = [null, false, 0];
    this.#asking.worked();
    this.#asks.nudge();
    this.#polls.nudge();
    this.#changed();
  }

  /** Lets the user sign in, which also gets a ticket. */
  async join() {
    try {
      await session.require();
      this.retry();
    } catch (error) {
      if (!(error instanceof SignInCancelled)) throw error;
    }
  }

  get #place() {
    const { sale_id: sale, round } = this.#card;
    return session.current ? `${PREFIX}${session.current.user}:${sale}.${round}` : null;
  }

  #load() {
    const { commitment, first } = this.#kept;
    this.#kept = (this.#place && stored(this.#place)) ?? {};
    if (this.#kept.ticket && !this.ticket) this.#kept = { ...this.#kept, ticket: null, watermark: null };
    // What was stored while signed out counts as well.
    if (commitment && !this.#kept.commitment) this.#keep({ commitment });
    if (first && !this.#kept.first) this.#keep({ first });
    this.#follow();
  }

  #keep(changes) {
    // Another tab may have written a moment ago.
    const theirs = this.#place && !this.#isFull ? stored(this.#place) : null;
    this.#kept = { ...this.#kept, ...theirs, ...changes };
    if (!this.#place) return;
    try {
      store(PREFIX, this.#place, this.#kept);
      this.#isFull = false;
    } catch {
      // Without storage, this tab and the system still know it.
      this.#isFull = true;
    }
  }

  #changed() {
    if (!this.#signal.aborted) this.dispatchEvent(new Event('change'));
  }

  async #keepLooking() {
    while (!this.#signal.aborted) {
      const ms = await this.#get();
      if (this.#signal.aborted) return;
      await this.#polls.for(this.isOver ? MAX_TIMER_MS : ms);
    }
  }

  /** Loads the line's document, and returns when to load it again. */
  async #get() {
    const { sale_id: sale, round } = this.#card;
    try {
      const line = await get(`/v1/sales/${sale}/line`, { signal: this.#signal });
      if (!isDocument(line)) throw new Problem('internal');
      // The card may be outdated, and may belong to the previous round.
      if (line.round !== round) return jittered(LONGEST_RETRY_MS);
      this.#heard(line);
      this.#looking.worked();
    } catch (error) {
      if (this.#signal.aborted) return 0;
      const ms = this.#looking.failed(error instanceof Problem ? error : new Problem('internal'));
      this.#changed();
      return Math.max(ms, this.#pace);
    }
    this.#changed();
    const pace = this.#pace;
    return jittered(document.hidden ? Math.max(pace, HIDDEN_MS) : pace);
  }

  /** The polling interval. */
  get #pace() {
    const { document: line } = this;
    if (line === null) return 0;
    return Math.min(Math.max(line.poll_after_ms || PACE_MS, LEAST_PACE_MS), MOST_PACE_MS);
  }

  #heard(heard) {
    const { document: known } = this;
    const line = further(known, heard);
    this.document = line;
    if (line.seed === null && this.#kept.commitment === undefined) this.#keep({ commitment: line.commitment });
    if (line.seed !== null && !this.#kept.commitment && !this.#kept.first) this.#keep({ first: line.commitment });
    this.#follow();
    if (known && this.state !== known.state) this.#asks.nudge();
  }

  /** Applies a document to the user's state. */
  #follow() {
    const { ticket, document: line } = this;
    if (!ticket || !line?.seed) return;
    const { second } = ticket;
    // Only people who came by a moment after the user's own second can be ahead.
    if (second !== null && this.#kept.late === undefined && Date.parse(line.admitted.as_of) >= (second + 1) * 1000) {
      this.#keep({ late: line.people.late });
    }
    if (!this.#kept.watermark && line.watermark && clock.now() >= this.#doubtsUntil && admits(line.admitted, ticket, this.ppb)) this.#keep({ watermark: line.watermark });
  }

  async #keepAsking() {
    while (!this.#signal.aborted) {
      const ms = this.#untilAsking();
      if (ms <= 0) await this.#ask();
      else await this.#asks.for(ms);
    }
  }

  /** Time until the ticket is requested. */
  #untilAsking() {
    const now = clock.now();
    if (!session.current || this.ticket || this.refused || this.isSignedOut || this.isOver || this.isGone) return MAX_TIMER_MS;
    if (now >= Date.parse(this.#card.closes_at)) return MAX_TIMER_MS;
    if (this.#retryAt > now) return this.#retryAt - now;
    if (now < this.ticketsFrom) return this.ticketsFrom - now;
    if (now >= this.opensAt || this.#isLeaving) return 0;
    const left = this.opensAt - now;
    const end = this.opensAt - Math.min(MARGIN_MS, left / 4);
    const last = document.hidden ? Math.min(end, now + HIDDEN_ASK_MS) : end;
    // Spreads a crowd over the remaining time. The exact time does not affect anyone's place.
    if (!(this.#kept.askAt <= last)) {
      this.#keep({ askAt: now + Math.random() * (last - now) });
      this.#changed();
    }
    return this.#kept.askAt - now;
  }

  /** A user who leaves may not return before the opening, and timers of hidden pages are suspended: requests the ticket now. */
  #leaving() {
    const now = clock.now();
    if (!session.current || this.ticket || this.refused || now < this.ticketsFrom || now >= this.opensAt) return;
    // Other tabs have their own time.
    this.#isLeaving = true;
    this.#retryAt = 0;
    if (this.#signal.aborted) this.#ask();
    else this.#asks.nudge();
  }

  async #ask() {
    const { user } = session.current;
    const { sale_id: sale, round } = this.#card;
    this.#retryAt = clock.now() + FIRST_RETRY_MS;
    this.#isLeaving = false;
    try {
      // The request goes on when the page is left. If the answer is lost, the system still knows that the user came, and a later request
      // gets the same place.
      const { ticket } = await ask('POST', `/v1/sales/${sale}/tickets`, { keepalive: true });
      if (session.current?.user !== user) return;
      this.#asking.worked();
      const said = readTicket(ticket);
      if (said?.user !== user) this.refused = new Problem('internal');
      else if (said.round !== round) this.#retryAt = clock.now() + LONGEST_RETRY_MS;
      // Some process does not know yet that the opening has been postponed, and takes the user for late.
      else if (this.#read(ticket) === null) this.#retryAt = clock.now() + this.#untilHeardMs;
      else this.#keep({ ticket, watermark: null });
      this.#follow();
      this.#polls.nudge();
    } catch (error) {
      if (session.current?.user === user || error instanceof SignInCancelled) this.#failed(error);
    } finally {
      this.#changed();
    }
  }

  /** Pause until another process is asked, or the same one knows more. Before the opening there is time for several. */
  get #untilHeardMs() {
    const left = this.opensAt - clock.now();
    return jittered(left > 0 ? Math.min(Math.max(left / 4, FIRST_RETRY_MS), LONGEST_RETRY_MS) : LONGEST_RETRY_MS);
  }

  #failed(error) {
    if (error instanceof SignInCancelled) {
      this.isSignedOut = true;
      return;
    }
    const problem = error instanceof Problem ? error : new Problem('internal');
    if (problem.code === 'not_open') {
      const opens = Math.max(Date.parse(problem.members.opens_at), clock.now());
      this.#retryAt = Number.isFinite(opens) ? opens + jittered(FIRST_RETRY_MS) : clock.now() + this.#asking.failed(problem);
    } else if (isPassing(problem) || problem.code === UNHEARD) {
      this.#retryAt = clock.now() + this.#asking.failed(problem);
    } else {
      this.refused = problem;
    }
  }
}
