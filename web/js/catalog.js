// What everybody may know of sales.

import { clock } from './clock.js';
import { membersOpen } from './early.js';
import { look } from './http.js';

const cards = new Map();
/** Looks that have begun before anybody asked. */
const begun = new Map();

/** Begins to look at what a screen will ask for first, while the screen is still being made. */
export function begin(path) {
  const found = look(path);
  begun.set(path, found);
  return found;
}

function first(path, signal) {
  const found = begun.get(path);
  begun.delete(path);
  return found ?? look(path, { signal });
}

export async function campaigns(signal) {
  return (await first('/v1/campaigns', signal)).campaigns;
}

export function campaign(id, signal) {
  return first(`/v1/campaigns/${encodeURIComponent(id)}`, signal);
}

export async function sale(id, signal) {
  const card = await first(`/v1/sales/${encodeURIComponent(id)}`, signal);
  cards.set(id, card);
  return card;
}

/** A sale's card of any age, for its title; null if there is none. */
export async function anyCard(id, signal) {
  return cards.get(id) ?? sale(id, signal).catch(() => null);
}

/** When more units become available, in ms since the epoch; null if none do, or nobody knows. */
export function nextDrop(card) {
  return card?.next_release_at ? Date.parse(card.next_release_at) : null;
}

/**
 * What the sale's card comes to at this moment: a card is a second old, and clocks go on. `early` is while members alone can buy,
 * `between` is between two drops.
 */
export function stateNow(card) {
  const now = clock.now();
  if (card.state === 'closed' || now >= Date.parse(card.closes_at)) return 'closed';
  if (card.state === 'paused') return 'paused';
  if (card.state === 'upcoming' && now < Date.parse(card.opens_at)) return now >= (membersOpen(card) ?? Infinity) ? 'early' : 'upcoming';
  if (card.availability !== 'sold_out') return 'open';
  const next = nextDrop(card);
  // Once a drop has come there is something again, for all that is known.
  return next === null ? 'sold_out' : now < next ? 'between' : 'open';
}
