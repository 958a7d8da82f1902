// Waiting in the line of a sale, without a page: the ticket, how far the line is, and whose turn it is.

import { clock } from './clock.js';
import { Problem, ask, look } from './http.js';
import { admits, before, commitmentOf, further, isDocument, placePpb, rankOfEarly, readTicket, rounded, waitS } from './line.js';
import { SignInCancelled, session } from './session.js';
import { MAX_TIMER_MS, Wait, jittered } from './timing.js';

const PREFIX = 'line:';
/** Longer than any line lasts. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** Before the opening this much of the time that is left is for trying again, if it is not a quarter of it. */
const MARGIN_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** Longest time that an answer can ask for before it is tried again: lines do not last for long. */
const MOST_RETRY_AFTER_S = 300;
/** Shortest and longest time between two looks. */
const LEAST_PACE_MS = 250;
const MOST_PACE_MS = 300_000;
/** Pace of a line that does not say one, and goes on. */
const PACE_MS = 2_000;
/** A cache may hand out a document for half a minute. One that is older than this, and than two looks, is of a system that nobody reaches. */
const STALE_MS = 60_000;
/** Timers of hidden pages sleep sooner or later, so theirs are the first tickets. */
const HIDDEN_ASK_MS = 60_000;
/** Nobody reads a page that is hidden, but its title says when it is their turn. */
const HIDDEN_MS = 10_000;
/** A page that is seen looks this often whether its machine slept: nobody else may tell it. */
const AWAKE_MS = 2_000;
const SLEPT_MS = 10_000;
/** A document of this long after somebody heard that all is sold may be older than that. */
const DOCUMENT_LAG_MS = 2_500;
/** Problems that pass by themselves. */
const PASSING = new Set(['overloaded', 'network', 'rate_limited', 'internal']);
/** Of a ticket: the page knows the sale, so some process does not know it yet. */
const UNHEARD = 'unknown_sale';
/** How often somebody goes on to the question without asking for it, if the system says that it is not their turn after all. */
const MOST_TRIES = 3;

function stored(place) {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

const retryAfterMs = ({ retryAfterS }, otherwiseS = 0) => Math.min(retryAfterS ?? otherwiseS, MOST_RETRY_AFTER_S) * 1000;

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
    return jittered(Math.max(backoff, retryAfterMs(problem)));
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
  /** Nothing more is kept by this browser. */
  #isFull = false;
  #retryAt = 0;
  #isLeaving = false;
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
      this.#asks.nudge();
      if (!this.isOver || signal.aborted) this.#looks.nudge();
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
    return this.#asking.trouble ?? this.#looking.trouble ?? (this.#isStale ? new Problem('network') : null);
  }

  get #isStale() {
    const { document: line } = this;
    return line !== null && !this.isOver && clock.now() - Date.parse(line.admitted.as_of) > Math.max(STALE_MS, 2 * line.poll_after_ms);
  }

  get round() {
    return this.#card.round;
  }

  /** The sale's card as it is now: its opening may have moved. */
  set card(card) {
    const moved = card.opens_at !== this.#card.opens_at || card.line.tickets_from !== this.#card.line.tickets_from;
    this.#card = card;
    // Who came late to an opening that was put off since is early.
    if (moved && this.#kept.ticket && !this.ticket) this.#keep({ ticket: null, front: null });
    if (moved) this.#asks.nudge();
    // Operators have added units: the end was none.
    if (this.isGone && this.document.state === 'sold_out' && card.state === 'open' && /^(available|few_left)$/.test(card.availability)) this.#looks.nudge();
  }

  get opensAt() {
    return Date.parse(this.#card.opens_at);
  }

  get ticketsFrom() {
    return Date.parse(this.#card.line.tickets_from);
  }

  /** `{round, second, user}`, or null; of this user and this round. */
  get ticket() {
    return this.#kept.ticket ? this.#read(this.#kept.ticket) : null;
  }

  #read(sealed) {
    const ticket = readTicket(sealed);
    if (ticket === null || ticket.user !== session.current?.user || ticket.round !== this.#card.round) return null;
    return ticket.second !== null && ticket.second < Math.floor(this.opensAt / 1000) ? null : ticket;
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
    const { document: line } = this;
    return line?.poll_after_ms === 0 && (line.state === 'sold_out' || line.state === 'ended');
  }

  /** All is sold, and nothing comes back. Operators may still add units. */
  get isGone() {
    const { document: line } = this;
    return line?.state === 'sold_out' && line.units.may_return === 0 && line.units.sold >= line.units.total;
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
    const as = `${line.sale} ${line.round} ${line.seed} ${line.commitment} ${this.#kept.commitment} ${this.#kept.first}`;
    if (this.#checked?.as !== as) {
      // What it heard first after the opening cannot become another one either.
      const noted = this.#kept.commitment ?? this.#kept.first ?? line.commitment;
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
  turnedAway(problem) {
    this.#tries += 1;
    this.#doubtsUntil = clock.now() + jittered(retryAfterMs(problem, 2));
    const went = this.#tries >= MOST_TRIES;
    if (problem.code === 'no_ticket') {
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
    const { commitment, first } = this.#kept;
    this.#kept = (this.#place && stored(this.#place)) ?? {};
    if (this.#kept.ticket && !this.ticket) this.#kept = { ...this.#kept, ticket: null, front: null };
    // What was noted while nobody was signed in is worth as much.
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
      forgetOldOnes();
      localStorage.setItem(this.#place, JSON.stringify({ ...this.#kept, at: Date.now() }));
      this.#isFull = false;
    } catch {
      // Without storage this tab knows it, and the system does.
      this.#isFull = true;
    }
  }

  #changed() {
    if (!this.#signal.aborted) this.dispatchEvent(new Event('change'));
  }

  async #keepLooking() {
    while (!this.#signal.aborted) {
      const ms = await this.#look();
      if (this.#signal.aborted) return;
      await this.#looks.for(this.isOver ? MAX_TIMER_MS : ms);
    }
  }

  /** Looks at the line, and answers when to look again. */
  async #look() {
    const { sale_id: sale, round } = this.#card;
    try {
      const line = await look(`/v1/sales/${sale}/line`, { signal: this.#signal });
      if (!isDocument(line)) throw new Problem('internal');
      // The card is as old as it is, and may be that of the round before.
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

  /** How often to look. */
  get #pace() {
    const { document: line } = this;
    if (line === null) return 0;
    return Math.min(Math.max(line.poll_after_ms || PACE_MS, LEAST_PACE_MS), MOST_PACE_MS);
  }

  #heard(line) {
    const { document: known } = this;
    // Answers of two places of a cache may come the wrong way round, and what a line has done it does not take back.
    if (known?.seed && (line.seed === null || Date.parse(line.admitted.as_of) < Date.parse(known.admitted.as_of))) return;
    this.document = known?.seed && known.seed === line.seed ? further(known, line) : line;
    if (line.seed === null && this.#kept.commitment === undefined) this.#keep({ commitment: line.commitment });
    if (line.seed !== null && !this.#kept.commitment && !this.#kept.first) this.#keep({ first: line.commitment });
    this.#follow();
    if (known && this.state !== known.state) this.#asks.nudge();
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
    if (!session.current || this.#kept.ticket || this.refused || this.isSignedOut || this.isOver || this.isGone) return MAX_TIMER_MS;
    if (now >= Date.parse(this.#card.closes_at)) return MAX_TIMER_MS;
    if (this.#retryAt > now) return this.#retryAt - now;
    if (now < this.ticketsFrom) return this.ticketsFrom - now;
    if (now >= this.opensAt || this.#isLeaving) return 0;
    const left = this.opensAt - now;
    const end = this.opensAt - Math.min(MARGIN_MS, left / 4);
    const last = document.hidden ? Math.min(end, now + HIDDEN_ASK_MS) : end;
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
    // Other tabs go by their own moment.
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
      // It goes on when the page is left. If nobody hears the answer the system still knows that the user came, and whoever asks
      // again has the same place.
      const { ticket } = await ask('POST', `/v1/sales/${sale}/tickets`, { keepalive: true });
      if (session.current?.user !== user) return;
      this.#asking.worked();
      const said = readTicket(ticket);
      if (said?.user !== user) this.refused = new Problem('internal');
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
      const opens = Math.max(Date.parse(problem.members.opens_at), clock.now());
      this.#retryAt = Number.isFinite(opens) ? opens + jittered(FIRST_RETRY_MS) : clock.now() + this.#asking.failed(problem);
    } else if (PASSING.has(problem.code) || problem.code === UNHEARD) {
      this.#retryAt = clock.now() + this.#asking.failed(problem);
    } else {
      this.refused = problem;
    }
  }
}
