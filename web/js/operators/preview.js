// A sale as the shop would show it, while it is still being edited.

import { chances, facts, goods, picture, price } from '../parts.js';
import { h } from '../dom.js';
import { moment } from '../format.js';
import { t } from '../i18n.js';

const PICTURE = /^(https:\/\/|\/art\/)\S+$/;

/** The card for terms that may be incomplete. */
function cardOf(terms, now) {
  const later = (text, ms) => text ?? new Date(now + ms).toISOString();
  const isUnits = terms.allocation.kind === 'units';
  return {
    sale_id: terms.sale_id || 'sale', title: terms.title || t('op.preview.title'), state: 'upcoming', availability: 'available',
    opens_at: later(terms.opens_at, 3_600_000), closes_at: later(terms.closes_at, 7_200_000), price_minor: terms.price_minor ?? 0,
    currency: /^[A-Z]{3}$/.test(terms.currency) ? terms.currency : 'EUR', per_user_limit: terms.per_user_limit ?? 1,
    payment_window_s: terms.payment_window_s ?? 900, settlement: terms.settlement, list_price_minor: terms.list_price_minor,
    ...(isUnits ? {} : { draw: { units: terms.total ?? 1, allocation: whole(terms.allocation) } }),
  };
}

const whole = (allocation) => (allocation.kind === 'split'
  ? { ...allocation, total_minor: allocation.total_minor ?? 0, min_minor: allocation.min_minor ?? 0 }
  : { ...allocation, prizes: allocation.prizes.filter(({ name, count }) => name && count > 0) });

export function preview(terms, now) {
  const card = cardOf(terms, now);
  const pictures = terms.pictures.filter((url) => PICTURE.test(url));
  const shown = { ...card, description: terms.description, pictures };
  return [
    h('div', { class: 'product-picture' }, picture({ ...card, picture: pictures[0] })),
    h('div', { class: 'product-body' },
      h('h3', {}, card.title), price(card), h('p', { class: 'quiet' }, t('list.opens', { at: moment(card.opens_at) })),
      chances(card), facts(card), goods(shown), terms.terms_url ? h('p', { class: 'quiet' }, t('op.preview.terms')) : null),
  ];
}
