// Sales with early access for members, and their quota.

import { clock } from './clock.js';
import { moment } from './format.js';
import { language, t } from './i18n.js';

const openings = (card) => (card?.early_access ?? []).map(({ opens_at: at }) => Date.parse(at));

/** When the first members may buy, in ms since the epoch; null without early access. */
export function membersOpen(card) {
  const first = Math.min(...openings(card));
  return first < Date.parse(card?.opens_at) ? first : null;
}

/** Until when members have a quota, in ms since the epoch; null if they have none. */
export function quotaUntil(card) {
  const ends = (card?.early_access ?? []).map(({ quota_until: at }) => Date.parse(at)).filter((at) => at > clock.now());
  return ends.length ? Math.max(...ends) : null;
}

/** For a sold-out answer: when the members' quota becomes everyone's, in ms since the epoch; otherwise null. */
export function quotaEnd(card, problem) {
  const until = problem.code === 'sold_out' && card.early_access ? Date.parse(problem.members.next_release_at) : NaN;
  return Number.isNaN(until) ? null : until;
}

/** A time in words; one of today without its date. */
export function hour(ms) {
  const day = (at) => new Date(at).toDateString();
  if (day(ms) !== day(clock.now())) return moment(ms);
  return new Intl.DateTimeFormat(language.locale, { timeStyle: 'short' }).format(new Date(ms));
}

/** Who can buy when, in one line; `state` is the card's current state. Null once it makes no difference. */
export function whoWhen(card, state) {
  const [first, until] = [membersOpen(card), quotaUntil(card)];
  const at = hour(Date.parse(card.opens_at));
  if (state === 'early') return t('early.line', { at });
  if (state === 'upcoming' && first !== null) {
    return first > clock.now() ? t('early.to_come', { first: hour(first), at }) : t('early.line', { at });
  }
  return until !== null && (state === 'upcoming' || state === 'open') ? t('early.quota', { at: hour(until) }) : null;
}
