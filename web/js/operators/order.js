// One order: its state, its payments, and its history.

import { awardWords } from '../awards.js';
import { h } from '../dom.js';
import { moment, number, shortId } from '../format.js';
import { language, t } from '../i18n.js';
import { problemWords, trouble } from '../parts.js';
import { api } from './api.js';
import { amount, listing, refundBadge, stateBadge } from './listing.js';
import { hashOf } from './orders.js';
import { Screen, box } from './screen.js';

const COLUMNS = [['op.payment.id', 'user'], ['op.payment.outcome'], ['op.refunds.amount', 'n'], ['op.payment.noted'], ['op.payment.refunded']];
const OUTCOMES = { applied: 'applied', refund_due: 'due', refunded: 'refunded' };

export class Order extends Screen {
  #id;
  #back;
  #order = null;

  /** `back` is the hash of the previous screen. */
  constructor(place, id, back, signal) {
    super(place, signal);
    [this.#id, this.#back] = [id, back ?? hashOf({ sale: id.split('.')[0], round: id.split('.')[1] })];
    this.fill();
    this.#load();
  }

  #load() {
    return this.loading(async () => {
      this.#order = await api.order(this.#id, this.signal);
    });
  }

  fill() {
    const focused = this.place.contains(document.activeElement);
    const heading = h('h1', { tabindex: '-1' }, t('op.order.title', { id: shortId(this.#id) }));
    this.place.replaceChildren(h('a', { class: 'back', href: this.#back }, t('op.nav.orders')), ...this.#body(heading));
    if (focused) heading.focus();
  }

  #body(heading) {
    if (this.problem) {
      const isMissing = this.problem.code === 'unknown_reservation';
      const words = isMissing ? { title: t('op.order.missing.title'), text: t('op.order.missing.text') } : problemWords(this.problem);
      return [heading, trouble(words, () => this.#load())];
    }
    if (!this.#order) return [heading, h('p', { class: 'lead' }, t('loading'))];
    const { payments, history, ...order } = this.#order;
    return [
      h('div', { class: 'board-head' }, heading, h('span', { class: 'badges' }, stateBadge(order.state), ' ', refundBadge(order.refund))),
      h('dl', { class: 'facts box' }, facts(order)),
      box('op.order.payments', payments.length > 0 ? listing(t('op.order.payments'), COLUMNS, payments.map(payment))
        : h('p', { class: 'quiet' }, t('op.order.no_payments'))),
      box('op.order.history', h('ol', { class: 'history' }, history.map(event))),
    ];
  }
}

function facts(order) {
  const fact = (name, value, kind = null) => (value === undefined || value === null ? null
    : h('div', { class: kind }, h('dt', {}, t(`op.order.${name}`)), h('dd', {}, value)));
  const { sale_id: sale, round, user } = order;
  const when = (text) => (text ? moment(text) : null);
  return [
    fact('full', h('code', {}, order.reservation_id), 'wide'),
    fact('sale', h('a', { href: `#/sales/${sale}` }, t('op.order.round', { sale, round }))),
    fact('user', h('a', { href: hashOf({ user }) }, user)),
    fact('unit', number(order.unit)),
    fact('price', amount(order)),
    fact('award', order.award ? awardWords(order.award) : null),
    fact('reserved', when(order.reserved_at)),
    fact('ordered', when(order.ordered_at)),
    fact('pay_by', order.state === 'pending_payment' ? when(order.pay_by) : null),
    fact('ended', when(order.ended_at)),
    fact('reason', order.reason ? reason(order.reason) : null),
  ];
}

const reason = (code) => (language.has(`op.failed.${code}`) ? t(`op.failed.${code}`) : code);

function payment(one) {
  const by = one.refunded_at ? t('op.payment.by', { at: moment(one.refunded_at), by: one.refunded_by ?? '–' }) : null;
  const outcome = one.outcome === 'applied' ? stateBadge('paid') : refundBadge(OUTCOMES[one.outcome]);
  return [one.payment_id, outcome, amount(one), one.noted_at ? moment(one.noted_at) : null, by];
}

function event({ at, event: name, payment_id: id, by }) {
  const words = [`op.event.${name}`, `op.state.${name}`].find((key) => language.has(key));
  return h('li', {}, h('time', { datetime: at }, moment(at)), h('span', {}, words ? t(words, { id, by }) : name));
}
