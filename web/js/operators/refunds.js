// Payments that need a refund.

import { h, replace } from '../dom.js';
import { moment, shortId } from '../format.js';
import { t } from '../i18n.js';
import { button, empty, problemWords } from '../parts.js';
import { api } from './api.js';
import { asking } from './dialog.js';
import { amount, listing, orderLink, shownWords, stateBadge } from './listing.js';
import { Screen } from './screen.js';

const COLUMNS = [['op.refunds.due'], ['op.refunds.amount', 'n'], ['op.order.id'], ['op.order.user', 'user'], ['op.order.state'], ['op.payment.id', 'user'], [null, 'act']];

export class Refunds extends Screen {
  #refunds = [];
  #cursor = null;
  #loaded = false;

  constructor(place, signal) {
    super(place, signal);
    this.build();
    this.#load();
  }

  async #load() {
    if (this.running) return;
    const from = this.#loaded ? this.#refunds.length : null;
    const loaded = this.loading(async () => {
      const { refunds, next_cursor: next } = await api.refunds(this.#cursor, this.signal);
      this.#refunds.push(...refunds);
      [this.#cursor, this.#loaded] = [next ?? null, true];
    });
    this.fill();
    await loaded;
    if (this.problem) this.say('');
    if (from !== null) this.results.querySelectorAll('.act button')[from]?.focus();
  }

  build() {
    this.place.replaceChildren(
      h('h1', { tabindex: '-1' }, t('op.nav.refunds')), h('p', { class: 'lead' }, t('op.refunds.lead')),
      h('div', { class: 'outcome' }, this.error, this.said), this.results);
    this.fill();
  }

  fill() {
    this.error.textContent = this.problem ? problemWords(this.problem).title : '';
    const more = (key) => button(t(key), () => this.#load(), { class: 'secondary more', 'data-keep': 'more', 'aria-disabled': this.running ? 'true' : null });
    const count = this.#refunds.length;
    replace(this.results,
      h('p', { class: 'quiet shown' }, !this.#loaded && !this.problem ? t('loading') : count > 0 ? shownWords(count, this.#cursor !== null) : ''),
      count > 0 ? listing(t('op.nav.refunds'), COLUMNS, this.#refunds.map((one) => this.#row(one))) : null,
      this.#loaded && count === 0 && !this.#cursor ? empty(t('op.refunds.none.title'), t('op.refunds.none.text')) : null,
      this.problem && !this.#loaded ? more('retry') : this.#cursor ? more('op.more') : null);
  }

  #row(one) {
    const id = one.reservation_id;
    const order = t('op.order.title', { id: shortId(id) });
    return [
      moment(one.due_at), amount(one), orderLink(id), one.user, stateBadge(one.order_state), one.payment_id,
      button(t('op.refunds.mark'), () => this.#mark(one), {
        class: 'secondary', 'data-keep': one.payment_id, 'aria-label': `${t('op.refunds.mark')}: ${amount(one)}, ${order}`,
      }),
    ];
  }

  async #mark(one) {
    const payment = one.payment_id;
    const names = { amount: amount(one), id: shortId(one.reservation_id) };
    const say = (text) => {
      // Only the latest message is shown.
      this.problem = null;
      this.error.textContent = '';
      this.said.textContent = text;
    };
    const question = { title: t('op.refunds.mark'), text: t('op.refunds.mark.text', { ...names, payment }), go: t('op.refunds.mark') };
    const marked = await asking(question, () => {
      say('');
      return api.refunded(payment);
    });
    if (marked === null) return;
    const { changed, refunded_by: by, refunded_at: at } = marked;
    say(changed ? t('op.refunds.marked', names) : t('op.refunds.before', { ...names, by, at: moment(at) }));
    // After the dialog has closed, since it has the focus until then.
    this.#drop(payment);
  }

  /** Removes a row, and moves the focus to the next one. */
  #drop(payment) {
    const at = this.#refunds.findIndex((one) => one.payment_id === payment);
    this.#refunds.splice(at, 1);
    this.fill();
    const buttons = this.results.querySelectorAll('.act button');
    (buttons[Math.min(at, buttons.length - 1)] ?? this.results.querySelector('.more') ?? this.place.querySelector('h1')).focus();
    // The visible page is done, and there are more.
    if (this.#refunds.length === 0 && this.#cursor) this.#load();
  }
}
