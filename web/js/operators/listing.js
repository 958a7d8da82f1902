// Tables that become lists on a phone.

import { h } from '../dom.js';
import { money, number, shortId } from '../format.js';
import { t } from '../i18n.js';
import { badge } from '../parts.js';

/**
 * A table of `rows`, each with one cell per column. A column is the key of its words, optionally with a class. The roles are
 * explicit because browsers drop them for a table that is displayed as a list.
 */
export function listing(label, columns, rows) {
  return h('table', { class: 'listing', role: 'table', 'aria-label': label },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map(([key, kind]) => (
      h('th', { scope: 'col', role: 'columnheader', class: kind }, key ? t(key) : h('span', { class: 'unseen' }, t('op.act'))))))),
    h('tbody', { role: 'rowgroup' }, rows.map((row) => h('tr', { role: 'row' }, row.map((cell, at) => {
      const [key, kind] = columns[at];
      return h('td', { role: 'cell', class: kind, 'data-label': key ? t(key) : null }, cell ?? '–');
    })))));
}

/** A number, if there is one. */
export const shown = (value) => (value === null || value === undefined ? '–' : number(value));

/** An amount, if there is one. */
export const amount = ({ price_minor: minor, currency }) => (minor === undefined ? null : money(minor, currency));

/** The states of an order. */
export const STATES = ['pending_payment', 'granted', 'paid', 'expired', 'cancelled', 'failed'];

export const stateBadge = (state) => (state ? badge(state, t(`op.state.${state}`)) : null);

/** Names payments that an order could not accept. */
export const refundBadge = (refund) => (refund ? badge(`refund-${refund}`, t(`op.refund.${refund}`)) : null);

export const orderLink = (id) => h('a', { href: `#/orders/${id}`, 'aria-label': t('op.order.title', { id: shortId(id) }) }, shortId(id));

/** The number of rows, and whether there are more. */
export const shownWords = (count, more) => t(more ? 'op.shown.more' : 'op.shown', { n: number(count) });
