// The public data of sales.

import { clock } from './clock.js';
import { membersOpen } from './early.js';
import { ask, get } from './http.js';
import { pictureOf } from './pictures.js';
import { session } from './session.js';

const cards = new Map();
/** Requests that were started before a screen needed them. */
const begun = new Map();

/** Starts loading what `hash` shows, before its screen has its words: its document, then the first picture in it. */
export function beginScreen(hash) {
  const [known, what = 'sales'] = /^#?\/?((?:campaigns|sales)\/[a-z0-9-]+)?$/.exec(hash) ?? [];
  if (known === undefined) return;
  const path = `/v1/${what}`;
  begun.set(path, get(path));
  begun.get(path).then((found) => {
    const card = (found.sales ?? [found])[0];
    if (card?.sale_id) new Image().src = pictureOf(card).src;
  }, () => {});
}

/** Rounds that were seen prepared. If the state of one is unknown later, the button stays. */
const prepared = new Set();
/** Long before the opening, the page does not ask whether a sale is prepared. */
const ASKED_MS = 110_000;

function note({ sale_id: id, round, state, opens_at: opens, availability }) {
  const isAsked = state !== 'upcoming' || Date.parse(opens) - clock.now() < ASKED_MS;
  if (isAsked && availability !== 'unknown') prepared.add(`${id}.${round}`);
}

const isPrepared = ({ sale_id: id, round, availability }) => availability !== 'unknown' || prepared.has(`${id}.${round}`);

function first(path, signal) {
  const found = begun.get(path);
  begun.delete(path);
  return found ?? get(path, { signal });
}

/** All sales, with the `campaigns`; or those of a campaign, with its `title`. */
export async function list(campaign, signal) {
  const found = await first(campaign ? `/v1/campaigns/${encodeURIComponent(campaign)}` : '/v1/sales', signal);
  found.sales.forEach(note);
  return found;
}

export async function sale(id, signal) {
  const card = await first(`/v1/sales/${encodeURIComponent(id)}`, signal).catch((error) => {
    // Members may see sales that others cannot.
    if (error.code !== 'unknown_sale' || !session.current) throw error;
    return ask('GET', `/v1/members/sales/${encodeURIComponent(id)}`, { signal });
  });
  cards.set(id, card);
  note(card);
  return card;
}

/** A sale's card of any age, for its title; null if there is none. */
export const anyCard = async (id, signal) => cards.get(id) ?? sale(id, signal).catch(() => null);

/** The same, if it has been loaded. */
export const knownCard = (id) => cards.get(id);

/** When more units become available, in ms since the epoch; null if never or unknown. */
export const nextDrop = (card) => (card?.next_release_at ? Date.parse(card.next_release_at) : null);

/**
 * The state of the sale at this moment: a card is a second old, and clocks go on. `early` means that only members can buy,
 * `between` is between two drops, and `preparing` means that the opening has come but the sale is not ready.
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
  // After a drop, units are assumed to be available.
  return next === null ? 'sold_out' : now < next ? 'between' : 'open';
}
