// The receipt of a paid order, for printing.

import { anyCard } from '../catalog.js';
import { h } from '../dom.js';
import { moment, money, saleOf, shortId } from '../format.js';
import { ask } from '../http.js';
import { t } from '../i18n.js';
import { actions, button, fact, nothing, problemWords, skeleton } from '../parts.js';
import { SignInCancelled, session } from '../session.js';
import { View } from './view.js';

export class ReceiptView extends View {
  #id;
  #order = null;
  #card = null;
  #problem = null;

  constructor(main, id) {
    super(main);
    this.#id = id;
    this.render();
    this.#load();
  }

  get title() {
    return t('receipt');
  }

  async #load() {
    try {
      const order = ask('GET', `/v1/reservations/${this.#id}`, { signal: this.signal });
      [this.#order, this.#card] = await Promise.all([order, anyCard(saleOf(this.#id), this.signal)]);
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error;
    }
    this.render();
  }

  render() {
    document.title = `${this.title} ${shortId(this.#id)} · ${t('brand')}`;
    const back = h('a', { class: 'back', href: `#/reservations/${this.#id}` }, t('receipt.back'));
    if (this.#problem) {
      const signedOut = this.#problem instanceof SignInCancelled;
      this.main.replaceChildren(...nothing(signedOut ? { title: t('signed.out.title'), text: t('orders.sign') } : problemWords(this.#problem)));
    } else if (!this.#order) {
      this.main.replaceChildren(h('h1', { tabindex: '-1' }, this.title), skeleton('tall'));
    } else if (this.#order.status !== 'paid') {
      this.main.replaceChildren(back, h('h1', { tabindex: '-1' }, this.title), h('p', { class: 'lead' }, t('receipt.unpaid')));
    } else {
      this.main.replaceChildren(back, this.#receipt(), actions(button(t('print'), () => window.print(), { class: 'primary' })));
    }
  }

  #receipt() {
    const { unit, price_minor: minor, currency, reserved_at: reserved, ended_at: paid } = this.#order;
    return h('article', { class: 'receipt' },
      h('p', { class: 'receipt-brand' }, t('brand')),
      h('h1', { tabindex: '-1' }, this.title),
      h('dl', {},
        fact('receipt.item', this.#card?.title ?? saleOf(this.#id)),
        fact('order.unit', String(unit)),
        fact('order.date', moment(reserved, true)),
        fact('receipt.paid', moment(paid, true)),
        fact('receipt.buyer', session.current?.user ?? ''),
        fact('receipt.total', money(minor, currency)),
        fact('receipt.number', this.#id)),
      h('p', { class: 'quiet' }, t('receipt.note')));
  }
}
