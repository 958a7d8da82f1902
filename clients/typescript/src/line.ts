// Waiting in the line of a sale: docs/line.md.

import { NoAnswerError, ProblemError } from './errors.js';
import { isHex } from './hash.js';
import type { components } from './openapi.js';
import { admits, before, commitmentOf, further, type Place, placeOf, placePpb, type Range, readTicket, rounded, waitS } from './place.js';
import { jittered, sleep } from './waiting.js';

type Schemas = components['schemas'];

/** What everybody sees of a line. */
export type LineDocument = Schemas['Line'];

/** No tickets are given out yet. */
export interface AwaitingTickets {
  status: 'awaiting_tickets';
  /** When the first ones are. The client asks within a minute of that. */
  tickets_from: string;
}

/** The user has a ticket, and it is not their turn yet. */
export interface InLine {
  status: 'in_line';
  /** Store it: with it another call continues where this one was. The system gives the same place to whoever has lost it. */
  ticket: string;
  /** The line as last heard; null until it has been. */
  line: LineDocument | null;
  /** The user's place among all who came before the opening, from 1. Null before the opening, and for users who came later. */
  place: Range | null;
  /** How many people are still ahead. Null before the opening. */
  ahead: Range | null;
  /** How long it takes until the user's turn, in seconds, at the line's pace. Null before the opening, and while the line does not move. */
  wait_s: Range | null;
  /**
   * The commitment is another than when this call first heard it, or the seed is not the one that it was made for: nobody can rely on the
   * order of this line.
   */
  commitment_changed: boolean;
}

/** The requests of somebody who waits. */
export interface LineRequests {
  ticket(): Promise<Schemas['Ticket']>;
  get(): Promise<LineDocument>;
}

/** Polling for lines that are over, or say nothing: never closer together, never further apart, in ms. */
const LEAST_PACE_MS = 250;
const PACE_MS = 2_000;
const MOST_PACE_MS = 300_000;
/** A crowd that waits for tickets spreads over this time, or over a quarter of the time until the opening if that is shorter. */
const SPREAD_MS = 60_000;
/** How often the system may send a user to the line. */
const MOST_SENT_BACK = 10;

/** A user's way through the line of one sale. */
export class Line {
  readonly #requests: LineRequests;
  readonly #signal: AbortSignal;
  #ticket: string | undefined;
  #place: Place | null = null;
  #document: LineDocument | null = null;
  #watermark: string | undefined;
  #commitment: string | undefined;
  /** How many late people there were by the end of the second in which a late user came. */
  #lateBefore: number | undefined;
  #sentBack = 0;
  #retryAfterMs = 0;
  /** Somebody has answered about this line or its tickets. */
  #isReached = false;

  constructor(requests: LineRequests, ticket: string | undefined, signal: AbortSignal) {
    this.#requests = requests;
    this.#signal = signal;
    this.#take(ticket);
  }

  /** What requests for challenges and tokens need once it is the user's turn. */
  get headers(): { 'X-Line-Ticket'?: string; 'X-Line-Watermark'?: string } {
    return {
      ...(this.#ticket === undefined ? {} : { 'X-Line-Ticket': this.#ticket }),
      ...(this.#watermark === undefined ? {} : { 'X-Line-Watermark': this.#watermark }),
    };
  }

  /** Whether `error` sends the user to the line, or back to it. If so, `wait` for their turn and repeat the request. */
  sentBackBy(error: unknown): boolean {
    if (!(error instanceof ProblemError)) return false;
    const isOldWatermark = error.code === 'invalid_request' && error.problem.detail?.startsWith('x-line-watermark') === true;
    if (error.code !== 'no_ticket' && error.code !== 'not_your_turn' && !isOldWatermark) return false;
    this.#sentBack += 1;
    this.#isReached = true;
    if (this.#sentBack > MOST_SENT_BACK) return false;
    // Without a ticket there was nothing that has to settle.
    this.#retryAfterMs = this.#ticket === undefined ? 0 : (error.retryAfterMs ?? PACE_MS);
    if (error.code === 'no_ticket') this.#take(undefined);
    this.#watermark = undefined;
    return true;
  }

  /**
   * Waits until it is the user's turn. No answer is no reason to give up, once there has been one: the place stays the user's.
   *
   * @throws {ProblemError} `sold_out` or `closed` once nobody in line can get a unit any more
   */
  async *wait(): AsyncGenerator<AwaitingTickets | InLine, void, undefined> {
    await sleep(jittered(this.#retryAfterMs), this.#signal);
    try {
      yield* this.#untilTurn();
    } catch (error) {
      // There is no line, or not any more. If it is the sale that does not exist, the next request says so.
      if (!(error instanceof ProblemError) || error.code !== 'unknown_sale') throw error;
    }
  }

  async *#untilTurn(): AsyncGenerator<AwaitingTickets | InLine, void, undefined> {
    for (;;) {
      const isNew = this.#ticket === undefined;
      if (isNew) yield* this.#getTicket();
      const heard = await this.#get();
      if (heard && this.#hear(heard)) {
        const line = this.#document as LineDocument;
        const place = this.#place as Place;
        const ppb = isHex(line.seed) ? placePpb(line.seed, place.user) : null;
        const isTurn = ppb !== null && line.watermark !== null && admits(line.admitted, place, ppb);
        const over = isTurn ? undefined : overBy(line);
        const isOther = this.#isOtherOrder(line);
        // Whoever need not wait any longer still hears that the order is not the promised one.
        if (isOther || (!isTurn && !over)) yield this.#state(ppb, isOther);
        if (over) throw over;
        if (isTurn) {
          this.#watermark = line.watermark as string;
          return;
        }
      }
      // Whoever has to get another ticket does so at once, but not if the new one is of no use either: some process has not
      // heard of the round or of its opening yet.
      if (this.#ticket !== undefined) await sleep(jittered(this.#pace), this.#signal);
      else if (isNew) await sleep(jittered(PACE_MS), this.#signal);
    }
  }

  async *#getTicket(): AsyncGenerator<AwaitingTickets | InLine, void, undefined> {
    for (;;) {
      try {
        this.#take((await this.#requests.ticket()).ticket);
        if (this.#ticket === undefined) throw new Error('the ticket is of a later version: update flash-sale-client');
        this.#isReached = true;
        if (this.#document === null) yield this.#state(null, false);
        return;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (this.#isReached && isPassing(error)) {
          await sleep(jittered(PACE_MS), this.#signal);
          continue;
        }
        if (!(error instanceof ProblemError) || error.code !== 'not_open') throw error;
        this.#isReached = true;
        const from = error.problem['opens_at'];
        if (typeof from !== 'string') throw error;
        yield { status: 'awaiting_tickets', tickets_from: from };
        // By the system's clock: the device's may be wrong.
        const leftMs = Math.max(error.retryAfterMs ?? Date.parse(from) - Date.now(), 0);
        await sleep(leftMs + Math.random() * (await this.#spreadMs(from)), this.#signal);
      }
    }
  }

  async #spreadMs(ticketsFrom: string): Promise<number> {
    const line = await this.#get();
    return Math.min(SPREAD_MS, line ? Math.max(Date.parse(line.opens_at) - Date.parse(ticketsFrom), 0) / 4 : 0);
  }

  #take(ticket: string | undefined): void {
    this.#place = ticket === undefined ? null : readTicket(ticket);
    this.#ticket = this.#place ? ticket : undefined;
    this.#lateBefore = undefined;
  }

  /** The line now; nothing if there is no answer. */
  async #get(): Promise<LineDocument | undefined> {
    try {
      const line = await this.#requests.get();
      this.#isReached = true;
      return line;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (isPassing(error)) return undefined;
      throw error;
    }
  }

  /** Takes a document in. Returns whether the ticket is one of its line. */
  #hear(heard: LineDocument): boolean {
    const known = this.#document?.round === heard.round ? this.#document : null;
    if (known === null) this.#commitment = heard.commitment;
    const line = further(known, heard);
    this.#document = line;
    if (!this.#place) return false;
    const { round, second } = this.#place;
    // The next round has begun, or the opening has moved past the moment at which the user came.
    if (round < line.round || (second !== null && second < Math.floor(Date.parse(line.opens_at) / 1_000))) {
      this.#take(undefined);
      return false;
    }
    if (second !== null && Date.parse(line.admitted.as_of) >= (second + 1) * 1_000) this.#lateBefore ??= line.people.late;
    // The document of the previous round is still in some cache.
    return round === line.round;
  }

  /** Whether the order is another than the one that was promised when this call first heard of the line. */
  #isOtherOrder({ sale, round, seed, commitment }: LineDocument): boolean {
    return commitment !== this.#commitment || (seed !== null && !(isHex(seed) && commitmentOf(sale, round, seed) === commitment));
  }

  /** The polling interval, in ms. */
  get #pace(): number {
    return Math.min(Math.max(this.#document?.poll_after_ms || PACE_MS, LEAST_PACE_MS), MOST_PACE_MS);
  }

  #state(ppb: number | null, commitment_changed: boolean): InLine {
    const line = this.#document;
    const state = { status: 'in_line', ticket: this.#ticket as string, line, commitment_changed } as const;
    const place = this.#place;
    if (line === null || ppb === null || place === null) return { ...state, place: null, ahead: null, wait_s: null };
    const ahead = before(line, place, ppb, this.#lateBefore);
    return {
      ...state,
      place: place.second === null ? placeOf(line, ppb) : null,
      ahead: rounded(ahead),
      wait_s: line.state === 'moving' ? waitS(ahead, { from: 0, to: 0 }, line.admitted.per_s) : null,
    };
  }
}

/** Whether the error is no answer, or one that another request may not get. */
function isPassing(error: unknown): boolean {
  return error instanceof NoAnswerError || (error instanceof ProblemError && (error.status === 429 || error.status >= 500));
}

/** Why nobody in line can get a unit any more, if that is so. */
function overBy({ state, units }: LineDocument): ProblemError | undefined {
  const isGone = state === 'sold_out' && units.may_return === 0 && units.sold >= units.total;
  if (isGone) return new ProblemError(409, { title: 'Sold out', code: 'sold_out' });
  if (state === 'ended') return new ProblemError(410, { title: 'The sale is over', code: 'closed' });
  return undefined;
}
