// Sales whose units become available over time.

import { clock } from './clock.js';
import { clockFace, number } from './format.js';
import { language, t } from './i18n.js';

/** When more units become available, in ms since the epoch; null if none do, or nobody knows. */
export function nextDrop(card) {
  return card?.next_release_at ? Date.parse(card.next_release_at) : null;
}

/** A moment of the day, to the second. */
export const timeOfDay = (ms) => new Intl.DateTimeFormat(language.tag, { timeStyle: 'medium' }).format(new Date(ms));

/** How far the rain of a card has come, in a line; `state` is that of the card now. Null without one. */
export function rainWords(card, state) {
  if (!card.rain) return null;
  const values = { dropped: number(card.rain.dropped), units: number(card.rain.units) };
  if (state === 'upcoming') return t('rain.upcoming', values);
  if (state === 'closed') return t('rain.closed', values);
  if (card.rain.dropped >= card.rain.units) return t('rain.all', values);
  const next = nextDrop(card);
  if (next === null) return t('rain.last', values);
  if (state === 'between') return t('rain.so_far', values);
  const left = next - clock.now();
  return left > 0 ? t('rain.next', { ...values, left: clockFace(left) }) : t('rain.now', values);
}

/** The same for a list, which is not told anew every second. */
export function rainInList(card, state) {
  const next = nextDrop(card);
  if (!card.rain || next === null || (state !== 'open' && state !== 'between')) return rainWords(card, state);
  return t('rain.at', { dropped: number(card.rain.dropped), units: number(card.rain.units), at: timeOfDay(next) });
}
