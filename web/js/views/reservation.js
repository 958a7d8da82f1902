// One reservation, from the queue to its final state.

import { cardOf, kindOf, of } from '../awards.js';
import { anyCard } from '../catalog.js';
import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, saleOf, shortId } from '../format.js';
import { isPassing } from '../http.js';
import { language, t } from '../i18n.js';
import { fact, picture } from '../parts.js';
import { Watch } from '../watch.js';
import { RESERVATION_STAGES } from './reservation-stages.js';
import { View } from './view.js';

/** After this time in the queue, the page says that it takes longer than usual. */
const SLOW_MS = 10_000;

export class ReservationView extends View {
  #card = null;
  #place = h('section', { class: 'panel' });
  #picture = h('div', { class: 'product-picture' });
  #facts = h('dl', { class: 'facts' });
  #shown = '';
  /** The current action: `paying`, `giving` or `asking`. `said` is what went wrong with it. */
  doing = null;
  said = null;
  slow = false;

  constructor(main, id) {
    super(main);
    this.id = id;
    this.watch = new Watch(id, this.signal);
    this.watch.addEventListener('change', () => this.update());
    this.watch.run();
    anyCard(saleOf(id), this.signal).then((card) => {
      this.#card = card;
      if (!this.signal.aborted) this.render();
    });
    const slow = setTimeout(() => {
      this.slow = true;
      this.update();
    }, SLOW_MS);
    this.signal.addEventListener('abort', () => clearTimeout(slow), { once: true });
    this.render();
  }

  get title() {
    return this.#card?.title ?? saleOf(this.id);
  }

  /** The sale's card, or a substitute made from the award; null before either is known. */
  get card() {
    const { award } = this.watch.reservation ?? {};
    return award ? cardOf(award) : this.#card;
  }

  /** Continues after a sign-in. */
  again = () => {
    this.watch.trouble = null;
    this.watch.run();
  };

  render() {
    this.#shown = '';
    this.#place.setAttribute('aria-label', t('order.number'));
    this.#showPicture();
    this.putAll((heading) => [h('div', { class: 'product compact' },
      this.#picture,
      h('div', { class: 'product-body' },
        h('a', { class: 'back', href: `#/sales/${saleOf(this.id)}` }, t('to.sale')), heading, this.#place, this.#facts))]);
    this.update();
  }

  /** The stage's name, from the ledger's status and the clock. */
  get stage() {
    const { reservation, trouble } = this.watch;
    if (trouble?.name === 'SignInCancelled') return 'signed_out';
    if (!reservation) return trouble && !isPassing(trouble) ? 'problem' : 'loading';
    if (reservation.status !== 'pending_payment') return reservation.status;
    return Date.parse(reservation.pay_by) <= clock.now() ? 'over' : 'pending_payment';
  }

  update() {
    if (this.signal.aborted) return;
    const { reservation, trouble } = this.watch;
    const stage = this.stage;
    const key = [stage, this.doing, this.said, this.slow && stage === 'queued', reservation?.unit, reservation?.refund_due, reservation?.pay_by, reservation?.award?.kind,
      trouble?.code].join(' ');
    if (key === this.#shown) return;
    const first = this.#shown === '';
    this.#shown = key;
    // The panel grows with its answer, and would push them down. In trouble they say which order it is about.
    if (stage === 'loading' && !trouble) this.#facts.replaceChildren();
    else this.#fill(reservation);
    this.#showPicture();
    this.put(this.#place, RESERVATION_STAGES[stage](this, reservation), { quiet: first && stage === 'loading' });
  }

  #fill(reservation) {
    this.#facts.replaceChildren(
      fact('order.number', shortId(this.id)),
      h('div', {}, h('dt', {}, of(this.card, 'order.unit')), h('dd', {}, this.#unit(reservation))),
      fact('order.date', reservation?.reserved_at ? moment(reservation.reserved_at) : '–'));
  }

  /** The picture may depend on the award, which may arrive before the card or without it. */
  #showPicture() {
    const as = `${kindOf(this.card)} ${this.#card ? 'own' : ''} ${language.tag}`;
    if (this.#picture.dataset.as === as) return;
    this.#picture.dataset.as = as;
    this.#picture.replaceChildren(picture(this.#card ?? { ...this.card, sale_id: saleOf(this.id) }));
  }

  /** In a round with awards, the unit may change until the order is written. */
  #unit(reservation) {
    const known = reservation?.unit && !(this.#card?.draw && reservation.status === 'queued');
    return known ? String(reservation.unit) : '–';
  }

  /** Runs an action that takes a while; only one at a time. */
  async during(doing, work) {
    if (this.doing && this.doing !== 'asking') return;
    this.doing = doing;
    this.said = null;
    this.update();
    try {
      await work();
    } catch (error) {
      if (!this.signal.aborted) this.said = error.code ?? 'failed';
    } finally {
      this.doing = null;
      this.update();
    }
  }
}
