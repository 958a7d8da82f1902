// What everybody may know of sales.

import { clock } from './clock.js';
import { membersOpen } from './early.js';
import { ask, look } from './http.js';
import { session } from './session.js';

const cards = new Map();

export async function campaigns(signal) {
  return (await look('/v1/campaigns', { signal })).campaigns;
}

export function campaign(id, signal) {
  return look(`/v1/campaigns/${encodeURIComponent(id)}`, { signal });
}

export async function sale(id, signal) {
  const card = await look(`/v1/sales/${encodeURIComponent(id)}`, { signal }).catch((error) => {
    // Members see more than everybody does.
    if (error.code !== 'unknown_sale' || !session.current) throw error;
    return ask('GET', `/v1/members/sales/${encodeURIComponent(id)}`, { signal });
  });
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

const PICTURES = ['lamp', 'chair', 'pot'];

/** Drawings of what is not an item. */
const DRAWN = { split: 'packet', prizes: 'tickets' };

/** The drawing of a sale: that of its kind, the one that it names, or always the same one. */
export function pictureOf(id, kind = 'units') {
  if (kind in DRAWN) return DRAWN[kind];
  const named = PICTURES.find((name) => id.includes(name));
  const sum = Array.from(id).reduce((all, letter) => all + letter.codePointAt(0), 0);
  return named ?? PICTURES[sum % PICTURES.length];
}
