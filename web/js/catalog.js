// What everybody may know of sales.

import { clock } from './clock.js';
import { membersOpen } from './early.js';
import { ask, look } from './http.js';
import { session } from './session.js';

const cards = new Map();
/** Looks that have begun before anybody asked. */
const begun = new Map();

/** Begins to look at what a screen will ask for first, while the screen is still being made. */
export function begin(path) {
  const found = look(path);
  begun.set(path, found);
  return found;
}

/** Rounds that were seen prepared: who knows nothing of one later has no other reason to hide the button. */
const prepared = new Set();
/** Long before the opening nobody has asked whether it is prepared. */
const ASKED_MS = 110_000;

function note({ sale_id: id, round, state, opens_at: opens, availability }) {
  const isAsked = state !== 'upcoming' || Date.parse(opens) - clock.now() < ASKED_MS;
  if (isAsked && availability !== 'unknown') prepared.add(`${id}.${round}`);
}

const isPrepared = ({ sale_id: id, round, availability }) => availability !== 'unknown' || prepared.has(`${id}.${round}`);

function first(path, signal) {
  const found = begun.get(path);
  begun.delete(path);
  return found ?? look(path, { signal });
}

/** What the shop's first page has: `{sales, campaigns}`. */
export async function front(signal) {
  const found = await first('/v1/sales', signal);
  found.sales.forEach(note);
  return found;
}

export async function campaign(id, signal) {
  const found = await first(`/v1/campaigns/${encodeURIComponent(id)}`, signal);
  found.sales.forEach(note);
  return found;
}

export async function sale(id, signal) {
  const card = await first(`/v1/sales/${encodeURIComponent(id)}`, signal).catch((error) => {
    // Members see more than everybody does.
    if (error.code !== 'unknown_sale' || !session.current) throw error;
    return ask('GET', `/v1/members/sales/${encodeURIComponent(id)}`, { signal });
  });
  cards.set(id, card);
  note(card);
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
 * `between` is between two drops, `preparing` when it is time and the sale is not there yet.
 */
export function stateNow(card) {
  const now = clock.now();
  if (card.state === 'closed' || now >= Date.parse(card.closes_at)) return 'closed';
  if (card.state === 'paused') return 'paused';
  if (card.state === 'upcoming' && now < Date.parse(card.opens_at)) {
    if (now < (membersOpen(card) ?? Infinity)) return 'upcoming';
    return isPrepared(card) ? 'early' : 'preparing';
  }
  if (!isPrepared(card)) return 'preparing';
  if (card.availability !== 'sold_out') return 'open';
  const next = nextDrop(card);
  // Once a drop has come there is something again, for all that is known.
  return next === null ? 'sold_out' : now < next ? 'between' : 'open';
}
