// A purchase: challenge, pass, reservation, and the reservation's outcome.

import { ProblemError } from './errors.js';
import type { AwaitingTickets, InLine, Line } from './line.js';
import type { components } from './openapi.js';
import type { Solver, Work } from './solver.js';
import type { Reservation } from './watch.js';

type Schemas = components['schemas'];

/** A question for the buyer, or work for their device. */
export type Challenge = Schemas['Challenge'];
/** An arithmetic task as a picture, in a `data:` URL. */
export type PictureChallenge = Schemas['PictureChallenge'];
/** The pass into a sale, valid for five minutes. */
export type Admission = Schemas['Admission'];

/** Why this user gets no unit now; `code` distinguishes the reasons. */
export type Refusal = Schemas['SoldOut'] | Schemas['LimitReached'] | Schemas['UnpaidLimit'] | Schemas['NotOpen'] | Schemas['Closed'];

/**
 * The state of a purchase, distinguished by `status`: in a sale with a line `awaiting_tickets` and `in_line`, then `challenged`,
 * `admitted`, then `refused` or `queued`, and after `queued` the reservation's own states.
 */
export type PurchaseState =
  | AwaitingTickets
  | InLine
  | { status: 'challenged'; challenge: Challenge }
  | { status: 'admitted'; admission: Admission }
  | { status: 'refused'; refusal: Refusal }
  | Schemas['Accepted']
  | Reservation;

/** Shows a picture to the buyer and returns their answer. `wrong`: their last answer was wrong. */
export type AnswerPicture = (challenge: PictureChallenge, about: { wrong: boolean; signal: AbortSignal }) => string | Promise<string>;

export interface BuyOptions {
  /**
   * Identifies this attempt: buying again with the same key returns the same reservation and never makes a second one. Store it before you
   * start if the attempt must survive a restart. Without it, each call is a separate attempt.
   */
  idempotencyKey?: string;
  /** A pass that an earlier call of the same attempt yielded. No challenge is needed while it is valid. */
  admission?: Admission;
  /** The user's ticket for the sale's line, which an earlier call yielded. Without it the client gets one, for the same place. */
  ticket?: string;
  /** The sale's card has `line`. Without it the client finds out by a request that is refused. */
  line?: boolean;
  /** Answers pictures. Without it the solver does work instead; sales that only offer pictures refuse that. */
  answerPicture?: AnswerPicture;
  /** Replaces the client's solver. */
  solver?: Solver;
  signal?: AbortSignal;
}

/** The requests of a purchase. */
export interface Steps {
  challenge(wish: { kind?: 'work' }): Promise<Challenge>;
  solve(work: Work): Promise<string>;
  admit(answer: Schemas['ChallengeAnswer']): Promise<Admission>;
  reserve(admission: Admission): Promise<Schemas['Accepted']>;
  /** Follows a reservation that was accepted. */
  follow(id: string): AsyncGenerator<Reservation, void, undefined>;
}

/** Maximum challenges in one purchase: more than a person needs, and few enough that wrong answers do not lock a user out for long. */
const MAX_CHALLENGES = 5;
const REFUSALS: ReadonlySet<string> = new Set<Refusal['code']>(['sold_out', 'limit_reached', 'unpaid_limit', 'not_open', 'closed']);

/** Yields each state of a purchase up to the last one. */
export async function* purchase(
  steps: Steps,
  line: Line,
  options: BuyOptions,
  signal: AbortSignal,
): AsyncGenerator<PurchaseState, void, undefined> {
  try {
    if ((options.line || options.ticket !== undefined) && !options.admission) yield* line.wait();
    for (;;) {
      try {
        yield* pastLine(steps, options, signal);
        return;
      } catch (error) {
        if (!line.sentBackBy(error)) throw error;
        yield* line.wait();
      }
    }
  } catch (error) {
    if (!(error instanceof ProblemError) || !REFUSALS.has(error.code)) throw error;
    yield { status: 'refused', refusal: error.problem as Schemas['Problem'] as Refusal };
  }
}

/** The purchase of somebody whose turn it is. */
async function* pastLine(
  steps: Steps,
  { admission: kept, answerPicture }: BuyOptions,
  signal: AbortSignal,
): AsyncGenerator<PurchaseState, void, undefined> {
  let admission = kept;
  let wrong = false;
  for (let challenges = 0; ; ) {
    if (!admission) {
      // Counted whatever the answer: a pass that expires at once must not cause an endless loop.
      challenges += 1;
      const challenge = await steps.challenge(answerPicture ? {} : { kind: 'work' });
      yield { status: 'challenged', challenge };
      const answer = await answerTo(challenge, steps, answerPicture, { wrong, signal });
      signal.throwIfAborted();
      try {
        admission = await steps.admit({ challenge_id: challenge.challenge_id, ...(answer === undefined ? {} : { answer }) });
      } catch (error) {
        wrong = is(error, 'wrong_answer');
        if ((wrong || is(error, 'challenge_over')) && challenges < MAX_CHALLENGES) continue;
        throw error;
      }
      yield { status: 'admitted', admission };
    }
    try {
      const accepted = await steps.reserve(admission);
      yield accepted;
      for await (const reservation of steps.follow(accepted.reservation_id)) {
        if (reservation.status !== 'queued') yield reservation;
      }
      return;
    } catch (error) {
      // The pass has expired, or belongs to the previous round.
      if (!is(error, 'bad_token') || challenges >= MAX_CHALLENGES) throw error;
      admission = undefined;
      wrong = false;
    }
  }
}

const is = (error: unknown, code: string): boolean => error instanceof ProblemError && error.code === code;

async function answerTo(
  challenge: Challenge,
  { solve }: Steps,
  answerPicture: AnswerPicture | undefined,
  about: { wrong: boolean; signal: AbortSignal },
): Promise<string | undefined> {
  if (challenge.kind === 'none') return undefined;
  if (challenge.kind === 'work') return solve({ challengeId: challenge.challenge_id, bits: challenge.work.bits });
  if (!answerPicture) throw new Error('the sale asks for a picture to be read: give `answerPicture`');
  return answerPicture(challenge, about);
}
