// The stages of a sale while the user is not buying: before it opens, open, paused, over.

import { isFree, of, soldOut, verifyLink } from '../awards.js';
import { saveCalendar } from '../calendar.js';
import { nextDrop } from '../catalog.js';
import { clock } from '../clock.js';
import { contactLine } from '../contact.js';
import { announce, h } from '../dom.js';
import { hour } from '../early.js';
import { moment, span, timeOfDay } from '../format.js';
import { t } from '../i18n.js';
import { actions, backToSales, button, countdown, panel, spinner } from '../parts.js';

/** Counts down to the next drop, and then calls `over`. */
export function betweenDrops(view, next, over) {
  const { boxes, ...timing } = countdown({
    to: () => next, title: t('between.title'), say: view.atLimit ? null : 'between.say', every: (ms) => ms <= 0 && !view.atLimit && over(),
  });
  const soon = h('button', { type: 'button', class: 'primary', 'aria-disabled': 'true', 'data-keep': 'buy' }, t('between.soon'));
  return {
    element: panel('upcoming', t('between.title'), boxes, yours(view), h('p', {}, t('between.text', { at: timeOfDay(next) })),
      view.atLimit ? null : actions(soon)),
    ...timing,
  };
}

/** Counts down to the opening, and then says that it has come. */
const untilOpen = (view, every) => countdown({
  to: () => view.opensAt, say: 'countdown.say',
  every(ms) {
    if (ms <= 0) announce(t('countdown.open'), 'assertive');
    every(ms);
  },
});

export const opens = (view) => h('p', { class: 'quiet' }, t('countdown.at', { at: moment(view.opensAt, true) }));

/** The remaining units are the members' quota until `until`. */
export function onlyQuotaLeft(view, until) {
  const { boxes, ...timing } = countdown({ to: () => until, title: t('early.quota.label'), every: (ms) => ms <= 0 && view.dropHasCome() });
  return {
    element: panel('problem sold_out', t('early.quota.title'), h('p', {}, t('early.quota.text', { at: hour(until) })), boxes,
      actions(button(t('sold_out.look'), view.lookAgain, { class: 'secondary' }))),
    ...timing,
  };
}

/** A link to what the user already has; null if nothing. */
export function yours(view) {
  const id = view.buying.purchase?.reservationId;
  return id
    ? h('p', { class: 'yours' }, `${of(view.card, 'yours')} `, h('a', { href: `#/reservations/${id}` }, of(view.card, 'yours.see')))
    : null;
}

export const addToCalendar = (view) => (
  h('p', { class: 'calendar' }, button(t('calendar.add'), () => saveCalendar(view.card, clock.now()), { class: 'link' })));

/** A link to the check of the draw; null for a sale without one. */
export const check = ({ card }) => (card.draw ? h('p', {}, verifyLink(card.sale_id, card.round)) : null);

/** The stage of each state. */
export const IDLE_STAGES = {
  upcoming(view) {
    // Members can buy before the countdown ends.
    const { boxes, ...timing } = untilOpen(view, (ms) => (ms <= 0 || view.state !== 'upcoming') && view.update());
    const soon = h('button', { type: 'button', class: 'primary', 'aria-disabled': 'true', 'data-keep': 'buy' }, t('buy.soon'));
    return {
      element: panel('upcoming', t('countdown.title'), boxes, view.refusedEarly ? h('p', {}, t('early.refused')) : null, opens(view),
        actions(soon), addToCalendar(view)),
      ...timing,
    };
  },

  early(view) {
    const { boxes, ...timing } = untilOpen(view, (ms) => ms <= 0 && view.update());
    const buy = view.atLimit ? h('p', { class: 'quiet' }, of(view.card, 'limit.text')) : actions(view.buyButton(t('early.buy')));
    return {
      element: panel('open', t('early.title'), yours(view), h('p', {}, t('early.text', { at: hour(view.opensAt) })), buy, boxes, opens(view)),
      ...timing,
    };
  },

  preparing: (view) => panel('waiting', t('preparing.title'), spinner(), yours(view), h('p', {}, t('preparing.text'))),

  open(view) {
    const has = yours(view);
    const more = view.atLimit
      ? [h('p', { class: 'quiet' }, of(view.card, 'limit.text'))]
      : [h('p', {}, of(view.card, 'open.text', { window: span(view.card.payment_window_s) })),
        actions(view.buyButton(of(view.card, has ? 'buy.another' : 'buy')))];
    return {
      element: panel('open', of(view.card, 'open.title'), has, ...more),
      left: () => Date.parse(view.card.closes_at) - clock.now(),
      tick: (ms) => ms <= 0 && view.update(),
    };
  },

  between: (view) => betweenDrops(view, nextDrop(view.card), () => {
    announce(of(view.card, 'sold_out.back'), 'assertive');
    view.update();
  }),

  sold_out(view) {
    // Units of a free sale never come back.
    const again = isFree(view.card) ? check(view) : actions(view.buyButton(t('buy.again'), { class: 'secondary' }));
    const { title, text } = soldOut(view.card);
    return panel('sold_out', title, yours(view), h('p', {}, text), again);
  },

  paused: (view) => panel('paused', t('problem.paused.title'), yours(view), h('p', {}, t('problem.paused.text')), contactLine()),

  closed: (view) => panel('closed', t('problem.closed.title'), yours(view), h('p', {}, t('problem.closed.text')), check(view), backToSales()),
};
