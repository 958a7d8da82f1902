// Waiting in the line of a sale, without a page: the ticket, how far the line is, and whose turn it is.

import { clock } from './clock.js';
import { Problem, ask, look } from './http.js';
import { admits, before, commitmentOf, placePpb, rankOfEarly, readTicket, rounded, waitS } from './line.js';
import { SignInCancelled, session } from './session.js';
import { MAX_TIMER_MS, Wait, jittered } from './timing.js';

const PREFIX = 'line:';
/** Longer than any line lasts. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Before the opening this much of the time that is left is for trying again, if it is not a quarter of it. */
const MARGIN_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** Nobody reads a page that is hidden, but its title says when it is their turn. */
const HIDDEN_MS = 10_000;
/** A page that is seen looks this often whether its machine slept: nobody else may tell it. */
const AWAKE_MS = 2_000;
const SLEPT_MS = 10_000;
/** A document of this long after somebody heard that all is sold may be older than that. */
const DOCUMENT_LAG_MS = 2_500;
/** Problems that pass by themselves. */
const PASSING = new Set(['overloaded', 'network', 'rate_limited', 'internal']);
/** How often somebody goes on to the question without asking for it, if the system says that it is not their turn after all. */
const MOST_TRIES = 3;

function stored(place) {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

function forgetOldOnes() {
  for (const place of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
    if (!(Date.now() - stored(place)?.at < KEPT_MS)) localStorage.removeItem(place);
  }
}

/** What is tried again until it works. */
class Trying {
  trouble = null;
  #failures = 0;

  worked() {
    [this.trouble, this.#failures] = [null, 0];
  }

  /** When to try again. */
  failed(problem) {
    this.trouble = problem;
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    return jittered(Math.max(backoff, (problem.retryAfterS ?? 0) * 1000));
  }
}

/** All that is known of a line and of one's place in it. It changes, and then `change` is told. */
export class Waiting extends EventTarget {
  /** What everybody may know of the line; null until it is heard. */
  document = null;
  /** What asking again does not mend. */
  refused = null;
  /** The user was asked to sign in, and did not. */
  isSignedOut = false;
  #card;
  #signal;
  #looks = new Wait();
  #asks = new Wait();
  #looking = new Trying();
  #asking = new Trying();
  #kept = {};
  #retryAt = 0;
  #soldOutAt = -Infinity;
  /** Times that the system said that it is not the user's turn after all, and until when no front is believed therefore. */
  #tries = 0;
  #doubtsUntil = 0;
  #checked = null;

  /** `card` is that of a sale with a line; `signal` ends everything. */
  constructor(card, signal) {
    super();
    this.#card = card;
    this.#signal = signal;
    const nudge = () => {
      this.#retryAt = 0;
      this.#looks.nudge();
      this.#asks.nudge();
    };
    window.addEventListener('online', nudge, { signal });
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#leaving() : nudge()), { signal });
    session.addEventListener('change', () => {
      this.#load();
      this.retry();
    }, { signal });
    // Another tab may have got the ticket, or gone on.
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

  /** Why the last request had no answer; null if it had. It is sent again by itself. */
  get trouble() {
    return this.#asking.trouble ?? this.#looking.trouble;
  }

  get round() {
    return this.#card.round;
  }

  /** The sale's card as it is now: its opening may have moved. */
  set card(card) {
    const moved = card.opens_at !== this.#card.opens_at || card.line.tickets_from !== this.#card.line.tickets_from;
    this.#card = card;
    if (moved) this.#asks.nudge();
  }

  get opensAt() {
    return Date.parse(this.#card.opens_at);
  }

  get ticketsFrom() {
    return Date.parse(this.#card.line.tickets_from);
  }

  /** `{round, second, user}`, or null. */
  get ticket() {
    return this.#kept.ticket ? readTicket(this.#kept.ticket) : null;
  }

  /** Until when the ticket comes by itself, before the opening. */
  get askAt() {
    return this.#kept.askAt ?? null;
  }

  /** The user's place in parts per billion; null before it can be known. */
  get ppb() {
    const { ticket, document: line } = this;
    return ticket && line?.seed ? placePpb(line.seed, ticket.user) : null;
  }

  /** Whether the line has come to the user. It never moves back. */
  get isTurn() {
    return Boolean(this.#kept.ticket && this.#kept.front);
  }

  /** The user's turn has just come: nothing was done about it yet. */
  get isNewTurn() {
    return this.isTurn && !this.#kept.went;
  }

  /** What to show along with what asks for a challenge or a token. */
  get headers() {
    const { ticket, front } = this.#kept;
    return { ...(ticket ? { 'x-line-ticket': ticket } : {}), ...(front ? { 'x-line-front': front } : {}) };
  }

  /** `before`, `moving`, `paused`, `sold_out`, `ended`; null until it is heard. What this user heard a moment ago counts. */
  get state() {
    const { document: line } = this;
    if ((line?.state === 'moving' || line?.state === 'paused') && Date.parse(line.admitted.as_of) < this.#soldOutAt + DOCUMENT_LAG_MS) return 'sold_out';
    return line?.state ?? null;
  }

  /** Nothing comes back any more. */
  get isOver() {
    return this.document?.poll_after_ms === 0;
  }

  /** Where the user is among all who came early, as a range that counts from 1; null if it is not known, and of who came late. */
  get place() {
    const { ppb, ticket, document: line } = this;
    if (ppb === null || ticket.second !== null) return null;
    const { from, to } = rankOfEarly(ppb, line.people.estimate, line.people.error_percent);
    const place = rounded({ from: from + 1, to: Math.max(from + 1, to) });
    return { from: Math.max(1, place.from), to: place.to };
  }

  /** About how many are still before the user, as a range; null if it is not known. */
  get before() {
    const { ppb, ticket, document: line } = this;
    return ppb === null ? null : rounded(before(line, ticket, ppb, this.#kept.late));
  }

  /** About how many seconds that takes at the line's pace; null while it stands, and if it is not known. */
  get waitS() {
    const { ppb, ticket, document: line } = this;
    if (ppb === null || this.state !== 'moving') return null;
    return waitS(before(line, ticket, ppb, this.#kept.late), { from: 0, to: 0 }, line.admitted.per_s);
  }

  /**
   * Whether the order was fixed before anybody came: `{holds, noted}`, where `noted` says that this browser had written the commitment
   * down before the opening. Null before the seed is out.
   */
  get proof() {
    const { document: line } = this;
    if (!line?.seed) return null;
    const as = `${line.sale} ${line.round} ${line.seed} ${line.commitment} ${this.#kept.commitment}`;
    if (this.#checked?.as !== as) {
      const { commitment: noted = line.commitment } = this.#kept;
      const holds = commitmentOf(line.sale, line.round, line.seed) === line.commitment && noted === line.commitment;
      this.#checked = { as, holds, noted: Boolean(this.#kept.commitment) };
    }
    return this.#checked;
  }

  /** The user goes on to the question: from here on only by asking for it. */
  go() {
    this.#keep({ went: true });
  }

  /** The user heard that nothing is left, which the document may not say yet. */
  soldOut() {
    this.#soldOutAt = clock.now();
    this.#looks.nudge();
  }

  /** The system refused the ticket, or the front: what is kept is worth nothing. */
  turnedAway({ code, retryAfterS }) {
    this.#tries += 1;
    this.#doubtsUntil = clock.now() + jittered((retryAfterS ?? 2) * 1000);
    const went = this.#tries >= MOST_TRIES;
    if (code === 'no_ticket') {
      this.#keep({ ticket: null, front: null, went });
      this.#asks.nudge();
    } else {
      this.#keep({ front: null, went });
    }
  }

  /** Tries again whatever failed. */
  retry() {
    [this.refused, this.isSignedOut, this.#retryAt] = [null, false, 0];
    this.#asking.worked();
    this.#asks.nudge();
    this.#looks.nudge();
    this.#changed();
  }

  /** Has the user sign in, which gets a ticket. */
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
    const { commitment } = this.#kept;
    this.#kept = (this.#place && stored(this.#place)) ?? {};
    // What was noted while nobody was signed in is worth as much.
    if (commitment && !this.#kept.commitment) this.#keep({ commitment });
    this.#follow();
  }

  #keep(changes) {
    this.#kept = { ...this.#kept, ...changes };
    if (!this.#place) return;
    forgetOldOnes();
    try {
      localStorage.setItem(this.#place, JSON.stringify({ ...this.#kept, at: Date.now() }));
    } catch {
      // Without storage this tab knows it, and the system does.
    }
  }

  #changed() {
    if (!this.#signal.aborted) this.dispatchEvent(new Event('change'));
  }

  async #keepLooking() {
    while (!this.#signal.aborted) {
      const ms = await this.#look();
      if (this.#signal.aborted || this.isOver) return;
      await this.#looks.for(ms);
    }
  }

  /** Looks at the line, and answers when to look again. */
  async #look() {
    const { sale_id: sale, round } = this.#card;
    try {
      const line = await look(`/v1/sales/${sale}/line`, { signal: this.#signal });
      // The card is as old as it is, and may be that of the round before.
      if (line.round !== round) return jittered(LONGEST_RETRY_MS);
      this.#heard(line);
      this.#looking.worked();
    } catch (error) {
      if (this.#signal.aborted) return 0;
      const ms = this.#looking.failed(error instanceof Problem ? error : new Problem('internal'));
      this.#changed();
      return Math.max(ms, this.document?.poll_after_ms ?? 0);
    }
    this.#changed();
    const pace = this.document.poll_after_ms;
    return jittered(document.hidden ? Math.max(pace, HIDDEN_MS) : pace);
  }

  #heard(line) {
    // Answers of two places of a cache may come the wrong way round, and what a line has done it does not take back.
    if (this.document?.seed && Date.parse(line.admitted.as_of) < Date.parse(this.document.admitted.as_of)) return;
    this.document = line;
    if (line.seed === null && this.#kept.commitment === undefined) this.#keep({ commitment: line.commitment });
    this.#follow();
  }

  /** What follows for the user from the document. */
  #follow() {
    const { ticket, document: line } = this;
    if (!ticket || !line?.seed) return;
    const { second } = ticket;
    // Nobody else can be before one than who had come by a moment after one's own second.
    if (second !== null && this.#kept.late === undefined && Date.parse(line.admitted.as_of) >= (second + 1) * 1000) {
      this.#keep({ late: line.people.late });
    }
    if (!this.#kept.front && line.front && clock.now() >= this.#doubtsUntil && admits(line.admitted, ticket, this.ppb)) this.#keep({ front: line.front });
  }

  async #keepAsking() {
    while (!this.#signal.aborted) {
      const ms = this.#untilAsking();
      if (ms <= 0) await this.#ask();
      else await this.#asks.for(ms);
    }
  }

  /** How long until a ticket is asked for. */
  #untilAsking() {
    const now = clock.now();
    if (!session.current || this.#kept.ticket || this.refused || this.isSignedOut || this.isOver) return MAX_TIMER_MS;
    if (now >= Date.parse(this.#card.closes_at)) return MAX_TIMER_MS;
    if (this.#retryAt > now) return this.#retryAt - now;
    if (now < this.ticketsFrom) return this.ticketsFrom - now;
    if (now >= this.opensAt) return 0;
    const left = this.opensAt - now;
    const last = this.opensAt - Math.min(MARGIN_MS, left / 4);
    // So that a crowd is spread over the time that is left. When exactly makes no difference for anybody's place.
    if (!(this.#kept.askAt <= last)) {
      this.#keep({ askAt: now + Math.random() * (last - now) });
      this.#changed();
    }
    return this.#kept.askAt - now;
  }

  /** Whoever goes away may not come back before the opening, and timers of hidden pages sleep: the ticket is asked for now. */
  #leaving() {
    const now = clock.now();
    if (!session.current || this.#kept.ticket || this.refused || now < this.ticketsFrom || now >= this.opensAt) return;
    this.#keep({ askAt: now });
    this.#retryAt = 0;
    if (this.#signal.aborted) this.#ask();
    else this.#asks.nudge();
  }

  async #ask() {
    const { user } = session.current;
    const { sale_id: sale, round } = this.#card;
    this.#retryAt = clock.now() + FIRST_RETRY_MS;
    try {
      // It goes on when the page is left. If nobody hears the answer the system still knows that the user came, and whoever asks
      // again has the same place.
      const { ticket } = await ask('POST', `/v1/sales/${sale}/tickets`, { keepalive: true });
      if (session.current?.user !== user) return;
      this.#asking.worked();
      const said = readTicket(ticket);
      if (said === null) this.refused = new Problem('internal');
      else if (said.round !== round) this.#retryAt = clock.now() + LONGEST_RETRY_MS;
      else this.#keep({ ticket, front: null });
      this.#follow();
      this.#looks.nudge();
    } catch (error) {
      if (session.current?.user === user || error instanceof SignInCancelled) this.#failed(error);
    } finally {
      this.#changed();
    }
  }

  #failed(error) {
    if (error instanceof SignInCancelled) {
      this.isSignedOut = true;
      return;
    }
    const problem = error instanceof Problem ? error : new Problem('internal');
    if (problem.code === 'not_open') {
      this.#retryAt = Math.max(Date.parse(problem.members.opens_at), clock.now()) + jittered(FIRST_RETRY_MS);
    } else if (PASSING.has(problem.code)) {
      this.#retryAt = clock.now() + this.#asking.failed(problem);
    } else {
      this.refused = problem;
    }
  }
}
