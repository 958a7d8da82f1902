// Parts that several screens share.

import { isFree, odds, stake } from './awards.js';
import { nextDrop, stateNow } from './catalog.js';
import { clock } from './clock.js';
import { announce, h } from './dom.js';
import { clockFace, money, moment, number, parts, span, timeOfDay } from './format.js';
import { language, t } from './i18n.js';
import { pictureOf } from './pictures.js';
import { session } from './session.js';

/** The picture of a sale from its card, or from what is known of it. Only the page's `first` one is loaded eagerly. */
export function picture(card, size = '', first = true) {
  const { src, name, tint } = pictureOf(card);
  return h('div', { class: `picture ${size} ${name ? `tint-${tint}` : 'own'}` },
    h('img', {
      src, alt: name ? t(`picture.${name}`) : t('picture.of', { title: card.title ?? '' }), width: 480, height: 480,
      fetchpriority: first ? 'high' : null, loading: first ? null : 'lazy', decoding: first ? null : 'async',
    }));
}

export const badge = (kind, text) => h('span', { class: `badge ${kind}` }, text);

/** States whose badges look like those of others. */
const LOOKS = { between: 'upcoming', preparing: 'upcoming', early: 'open' };

/** The state of a sale, in two words. While it is open, that is how much is left. */
export function saleBadge(card) {
  const state = stateNow(card);
  const isKnown = state === 'open' && card.availability !== 'sold_out' && card.availability !== 'unknown';
  const left = isKnown ? card.availability : state === 'sold_out' ? state : null;
  return left ? badge(left, t(`availability.${left}`)) : badge(LOOKS[state] ?? state, t(state === 'early' ? 'early.title' : `state.${state}`));
}

export function facts(card) {
  return h('dl', { class: 'facts' },
    fact('sale.limit', t('sale.limit.value', { n: card.per_user_limit })),
    isFree(card) ? null : fact('sale.window', span(card.payment_window_s)),
    fact('sale.opens', moment(card.opens_at)),
    fact('sale.closes', moment(card.closes_at)));
}

/** Its price, or what can be won. */
export function price(card) {
  if (card.draw) return h('p', { class: 'price' }, stake({ ...card.draw, currency: card.currency }));
  const { list_price_minor: before, price_minor: now, currency } = card;
  const cost = isFree(card) ? t('free.price') : money(now, currency);
  if (!before) return h('p', { class: 'price' }, cost);
  return h('p', { class: 'price reduced' }, h('span', { class: 'unseen' }, `${t('price.now')} `), h('span', {}, cost), ' ',
    h('span', { class: 'unseen' }, `${t('price.before')} `), h('s', {}, money(before, currency)));
}

/** The merchant's description: paragraphs, more pictures, and a link to their terms. */
export function goods({ title, description, pictures = [], terms_url: terms }) {
  const more = pictures.slice(1).map((src) => h('li', {}, h('img', { src, alt: t('picture.of', { title }), width: 240, height: 240, loading: 'lazy', decoding: 'async' })));
  const parts = [
    description ? description.split(/\n+/).map((text) => h('p', {}, text)) : null,
    more.length ? h('ul', { class: 'pictures' }, more) : null,
    terms ? h('p', {}, h('a', { href: terms, target: '_blank', rel: 'noopener noreferrer' }, t('goods.terms'))) : null,
  ].filter(Boolean);
  return parts.length ? h('section', { class: 'goods', 'aria-label': t('goods') }, parts) : null;
}

/** The progress of a card's rain, in one line; `state` is the card's current state. Null without rain. */
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

/** The same for a list, which is not announced every second. */
export function rainInList(card, state) {
  const next = nextDrop(card);
  if (!card.rain || next === null || (state !== 'open' && state !== 'between')) return rainWords(card, state);
  return t('rain.at', { dropped: number(card.rain.dropped), units: number(card.rain.units), at: timeOfDay(next) });
}

/** What can be won and how often, for a sale with awards. */
export const chances = (card) => (card.draw ? odds({ ...card.draw, currency: card.currency }) : null);

/** A panel: its heading takes the focus, and its parts follow. */
export const panel = (kind, title, ...children) => h('div', { class: `stage ${kind}` }, h('h2', { tabindex: '-1' }, title), ...children);

export const button = (text, onclick, more = {}) => h('button', { type: 'button', onclick, ...more }, text);

export const actions = (...children) => h('div', { class: 'actions' }, ...children);

export const spinner = () => h('div', { class: 'spinner', 'aria-hidden': 'true' });

export const backToSales = () => actions(h('a', { class: 'button secondary', href: '#/' }, t('back')));

export const fact = (name, value) => h('div', {}, h('dt', {}, t(name)), h('dd', {}, value));

export function problemWords(problem) {
  const code = language.has(`problem.${problem.code}.title`) ? problem.code : 'internal';
  return { title: t(`problem.${code}.title`), text: t(`problem.${code}.text`) };
}

/**
 * Boxes of a fixed size that count down to `to()`, with the `left` and `tick` of their stage, which also calls `every`. Screen readers do
 * not announce them, only milestones in the words of `say`, if there are any.
 */
export function countdown({ to, every, say = null, title = t('countdown.title') }) {
  const passed = say === null ? () => {} : milestones(say);
  const boxes = ['days', 'hours', 'minutes', 'seconds'].map((unit) => {
    const value = h('span', { class: 'value' }, '–');
    return { unit, value, box: h('div', {}, value, h('span', { class: 'unit' }, t(`countdown.${unit}`))) };
  });
  const tick = (ms) => {
    const all = parts(ms);
    // Leading units that are zero have no box; minutes and seconds always have one.
    const hidden = all.days > 0 ? 0 : all.hours > 0 ? 1 : 2;
    for (const [at, { unit, value, box }] of boxes.entries()) {
      if (box.hidden !== at < hidden) box.hidden = at < hidden;
      const text = String(all[unit]).padStart(2, '0');
      if (value.textContent !== text) value.textContent = text;
    }
    passed(ms);
    every(ms);
  };
  return {
    boxes: h('div', { class: 'countdown', role: 'timer', 'aria-label': title }, boxes.map(({ box }) => box)),
    left: () => to() - clock.now(), tick,
  };
}

/** Seconds left at which a countdown is announced. */
const SAID_AT = [3600, 600, 300, 60, 30, 10];

/** Announces a countdown's milestones in the words of `key`, each once. */
export function milestones(key) {
  let last = Infinity;
  return (ms) => {
    const left = Math.ceil(ms / 1000);
    const passed = SAID_AT.find((at) => left <= at && last > at);
    // Milestones that passed before the page was opened are not announced.
    if (passed !== undefined && last !== Infinity) announce(t(key, { left: span(left) }));
    last = left;
  };
}

/** A placeholder of the same size as what is being loaded. */
export const skeleton = (kind) => h('div', { class: `skeleton ${kind}`, 'aria-hidden': 'true' });

export const empty = (title, text, ...more) => h('div', { class: 'empty' }, h('h2', { tabindex: '-1' }, title), h('p', {}, text), ...more);

/** What could not be loaded, with a button that calls `again` if there is one. */
export const trouble = ({ title, text }, again = null) => empty(title, text, again && button(t('retry'), again, { class: 'secondary' }));

/** For a screen that needs a user: offers to sign in. */
export function signedOut(text) {
  return h('div', { class: 'panel' }, panel('signed-out', t('signed.out.title'), h('p', {}, text),
    actions(button(t('sign.in'), () => session.offer(), { class: 'primary' }))));
}

/** A full-screen message that there is nothing. */
export function nothing({ title, text }) {
  return [h('h1', { tabindex: '-1' }, title), h('div', { class: 'empty' }, h('p', {}, text), h('a', { class: 'button', href: '#/' }, t('back')))];
}
