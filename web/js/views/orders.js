// The user's own orders, the newest first.

import { awardWords, cardOf } from '../awards.js';
import { anyCard, knownCard } from '../catalog.js';
import { h } from '../dom.js';
import { money, moment, saleOf, shortId } from '../format.js';
import { ask } from '../http.js';
import { t } from '../i18n.js';
import { badge, button, empty, picture, problemWords, signedOut, skeleton, trouble } from '../parts.js';
import { SignInCancelled, session } from '../session.js';
import { View } from './view.js';

export class OrdersView extends View {
  #orders = [];
  #cursor = null;
  #problem = null;
  #loading = false;
  #loaded = false;

  constructor(main) {
    super(main);
    this.render();
    if (session.current) this.#load();
    session.addEventListener('change', () => this.#anew(), { signal: this.signal });
  }

  get title() {
    return t('nav.orders');
  }

  #anew() {
    this.#orders = [];
    this.#cursor = null;
    this.#loaded = false;
    this.render();
    if (session.current && !this.#loading) this.#load();
  }

  async #load() {
    if (this.#loading) return;
    this.#loading = true;
    const cursor = this.#cursor;
    let from;
    try {
      const path = cursor ? `/v1/orders?cursor=${encodeURIComponent(cursor)}` : '/v1/orders';
      const { orders, next_cursor: next } = await ask('GET', path, { signal: this.signal });
      // The rows show the sales' titles and pictures.
      await Promise.all([...new Set(orders.map((order) => saleOf(order.reservation_id)))].map((id) => anyCard(id, this.signal)));
      from = this.#orders.length;
      this.#orders.push(...orders);
      [this.#cursor, this.#problem, this.#loaded] = [next ?? null, null, true];
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error instanceof SignInCancelled ? null : error;
    } finally {
      this.#loading = false;
    }
    this.render();
    // After "more", the focus moves to the first new order.
    if (cursor) this.main.querySelectorAll('.order a')[from]?.focus();
  }

  render() {
    this.putAll((heading) => [heading, ...this.#body()]);
  }

  #body() {
    if (!session.current) return [signedOut(t('orders.sign'))];
    if (this.#problem && !this.#orders.length) return [trouble(problemWords(this.#problem), () => this.#load())];
    if (!this.#loaded) return [h('div', { class: 'orders' }, skeleton('row'), skeleton('row'), skeleton('row'))];
    if (!this.#orders.length) return [empty(t('orders.none.title'), t('orders.none.text'))];
    return [
      h('ul', { class: 'orders' }, this.#orders.map((order) => this.#row(order))),
      this.#problem ? h('p', { class: 'error', role: 'alert' }, problemWords(this.#problem).title) : null,
      this.#cursor ? button(t('orders.more'), () => this.#load(), { class: 'secondary more' }) : null,
    ].filter(Boolean);
  }

  /** The sale's card, or a substitute made from the award. */
  #card({ reservation_id: id, award }) {
    return knownCard(saleOf(id)) ?? { ...(award ? cardOf(award) : {}), sale_id: saleOf(id) };
  }

  #row(order) {
    const id = order.reservation_id;
    const title = this.#card(order).title ?? saleOf(id);
    const label = `${title}, ${t('orders.open', { id: shortId(id) })}`;
    return h('li', { class: 'order' },
      picture(this.#card(order), 'small', false),
      h('div', {},
        h('a', { href: `#/reservations/${id}`, 'aria-label': label }, title),
        h('p', { class: 'quiet' }, `${moment(order.reserved_at)} · ${shortId(id)}`)),
      h('div', { class: 'order-end' },
        order.award?.kind === 'blank' ? null : badge(order.status, t(`status.${order.status}`)),
        order.award ? h('span', {}, awardWords(order.award))
          : order.price_minor ? h('span', {}, money(order.price_minor, order.currency)) : null));
  }
}
