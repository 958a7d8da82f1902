// A purchase: challenge, pass, reservation, and what becomes of it.

import { ProblemError } from './errors.js';
import type { components } from './openapi.js';
import type { Solver } from './solver.js';
import type { Reservation } from './watch.js';

type Schemas = components['schemas'];

/** A question that the buyer has to answer, or work that their device has to do. */
export type Challenge = Schemas['Challenge'];
/** A sum as a picture, as a `data:` URL. */
export type PictureChallenge = Schemas['PictureChallenge'];
/** The pass into a sale, good for five minutes. */
export type Admission = Schemas['Admission'];

/** Why there is no unit for this user now, told apart by `code`. */
export type Refusal = Schemas['SoldOut'] | Schemas['LimitReached'] | Schemas['UnpaidLimit'] | Schemas['NotOpen'] | Schemas['Closed'];

/**
 * Where a purchase is, told apart by `status`: `challenged`, `admitted`, then `refused` or `queued`, and from there the reservation's own
 * states.
 */
export type PurchaseState =
  | { status: 'challenged'; challenge: Challenge }
  | { status: 'admitted'; admission: Admission }
  | { status: 'refused'; refusal: Refusal }
  | Schemas['Accepted']
  | Reservation;

/** Shows a picture to the buyer and gives their answer. `wrong`: their last answer was not right. */
export type AnswerPicture = (challenge: PictureChallenge, about: { wrong: boolean; signal: AbortSignal }) => string | Promise<string>;

export interface BuyOptions {
  /**
   * Names this attempt: buying again with the same key gives the same reservation and never a second one. Store it before you start if
   * the attempt is to survive a restart. Without it each call is an attempt of its own.
   */
  idempotencyKey?: string;
  /** A pass that an earlier call of the same attempt yielded: no challenge is needed while it holds. */
  admission?: Admission;
  /** Answers pictures. Without it the challenge is work that the solver does; a sale that offers pictures only refuses that. */
  answerPicture?: AnswerPicture;
  /** Instead of the client's solver. */
  solver?: Solver;
  signal?: AbortSignal;
}

/** The requests of a purchase. */
export interface Steps {
  challenge(kind: 'work' | undefined, signal: AbortSignal): Promise<Challenge>;
  admit(answer: Schemas['ChallengeAnswer'], signal: AbortSignal): Promise<Admission>;
  reserve(admission: Admission, key: string, signal: AbortSignal): Promise<Schemas['Accepted']>;
  watch(id: string, signal: AbortSignal): AsyncGenerator<Reservation, void, undefined>;
}

/** Challenges in one purchase: more than a person needs, and fewer wrong answers than shut a user out for long. */
const MAX_CHALLENGES = 5;
const REFUSALS: ReadonlySet<string> = new Set<Refusal['code']>(['sold_out', 'limit_reached', 'unpaid_limit', 'not_open', 'closed']);

/** Yields each state of a purchase up to the last one. */
export async function* purchase(
  steps: Steps,
  key: string,
  solver: Solver,
  { admission: kept, answerPicture }: BuyOptions,
  signal: AbortSignal,
): AsyncGenerator<PurchaseState, void, undefined> {
  let admission = kept;
  let wrong = false;
  try {
    for (let challenges = 0; ; ) {
      if (!admission) {
        // Whatever the answers were: a pass that ends at once must not make it go on for ever.
        challenges += 1;
        const challenge = await steps.challenge(answerPicture ? undefined : 'work', signal);
        yield { status: 'challenged', challenge };
        const answer = await answerTo(challenge, solver, answerPicture, wrong, signal);
        signal.throwIfAborted();
        try {
          admission = await steps.admit({ challenge_id: challenge.challenge_id, ...(answer === undefined ? {} : { answer }) }, signal);
        } catch (error) {
          wrong = is(error, 'wrong_answer');
          if ((wrong || is(error, 'challenge_over')) && challenges < MAX_CHALLENGES) continue;
          throw error;
        }
        yield { status: 'admitted', admission };
      }
      try {
        const accepted = await steps.reserve(admission, key, signal);
        yield accepted;
        for await (const reservation of steps.watch(accepted.reservation_id, signal)) {
          if (reservation.status !== 'queued') yield reservation;
        }
        return;
      } catch (error) {
        // The pass has ended, or it was for the round before.
        if (!is(error, 'bad_token') || challenges >= MAX_CHALLENGES) throw error;
        admission = undefined;
        wrong = false;
      }
    }
  } catch (error) {
    if (!(error instanceof ProblemError) || !REFUSALS.has(error.code)) throw error;
    yield { status: 'refused', refusal: error.problem as Schemas['Problem'] as Refusal };
  }
}

function is(error: unknown, code: string): boolean {
  return error instanceof ProblemError && error.code === code;
}

async function answerTo(
  challenge: Challenge,
  solver: Solver,
  answerPicture: AnswerPicture | undefined,
  wrong: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (challenge.kind === 'none') return undefined;
  if (challenge.kind === 'work') return solver({ challengeId: challenge.challenge_id, bits: challenge.work.bits }, signal);
  if (!answerPicture) throw new Error('the sale asks for a picture to be read: give `answerPicture`');
  return answerPicture(challenge, { wrong, signal });
}
