// Sales that members may buy from before everyone else, and units that are kept for them.

import { clock } from './clock.js';
import { moment } from './format.js';
import { language, t } from './i18n.js';

const openings = (card) => (card?.early_access ?? []).map(({ opens_at: at }) => Date.parse(at));

/** When the first members may buy, in ms since the epoch; null if nobody may before everyone else. */
export function membersOpen(card) {
  const first = Math.min(...openings(card));
  return first < Date.parse(card?.opens_at) ? first : null;
}

/** Until when units are kept for members, in ms since the epoch; null if none are, or none any more. */
export function keptUntil(card) {
  const ends = (card?.early_access ?? []).map(({ set_aside_until: at }) => Date.parse(at)).filter((at) => at > clock.now());
  return ends.length ? Math.max(...ends) : null;
}

/** Of a sold-out answer: when what is kept for members becomes everyone's, in ms since the epoch; null of any other. */
export function keptBy(card, problem) {
  const until = problem.code === 'sold_out' && card.early_access ? Date.parse(problem.members.next_release_at) : NaN;
  return Number.isNaN(until) ? null : until;
}

/** A moment as people say it: one of today by its time. */
export function hour(ms) {
  const day = (at) => new Date(at).toDateString();
  if (day(ms) !== day(clock.now())) return moment(ms);
  return new Intl.DateTimeFormat(language.locale, { timeStyle: 'short' }).format(new Date(ms));
}

/** Who can buy when, in a line; `state` is that of the card now. Null if it makes no difference any more. */
export function whoWhen(card, state) {
  const [first, until] = [membersOpen(card), keptUntil(card)];
  const at = hour(Date.parse(card.opens_at));
  if (state === 'early') return t('early.line', { at });
  if (state === 'upcoming' && first !== null) {
    return first > clock.now() ? t('early.to_come', { first: hour(first), at }) : t('early.line', { at });
  }
  return until !== null && (state === 'upcoming' || state === 'open') ? t('early.kept', { at: hour(until) }) : null;
}
