// The system's health: what is stopped, the queues, and whether every unit of the running sales is accounted for.

import { h, replace } from '../dom.js';
import { number } from '../format.js';
import { t } from '../i18n.js';
import { button, empty, problemWords } from '../parts.js';
import { refreshing } from '../timing.js';
import { api } from './api.js';
import { asking } from './dialog.js';
import { standingBadge } from './home.js';
import { listing, shown } from './listing.js';
import { verdictOf } from './log.js';
import { Screen, box } from './screen.js';
import { killSwitches } from './kill-switches.js';

const REFRESH_MS = 5_000;
/** An audit reads every unit of a round. */
const AUDITED = 20;
const QUEUES = [['op.queue'], ['op.queue.dead', 'n'], ['op.queue.waiting', 'n'], ['op.queue.in_flight', 'n'], ['op.queue.delayed', 'n'], ['op.act', 'act']];
const SALES = [['op.order.sale'], ['op.order.state'], ['op.tab.audit']];
/** Queues are shared, so the state of any sale shows them. */
const ANY = ['open', 'published', 'draft', 'ended'];

export class Health extends Screen {
  #queues = null;
  #sales = [];
  #audits = new Map();
  #auditing = false;

  constructor(place, signal) {
    super(place, signal);
    this.results.classList.add('wide');
    killSwitches.addEventListener('change', () => this.fill(), { signal });
    this.build();
    refreshing(() => this.#load(), () => REFRESH_MS, signal);
  }

  #load() {
    return this.loading(async () => {
      this.#sales = (await api.salesIn('open', null, this.signal)).sales;
      let any = this.#sales[0];
      for (const state of ANY.slice(1)) any ??= (await api.salesIn(state, null, this.signal)).sales[0];
      this.#queues = any ? (await api.live(any.sale_id, this.signal)).queues : [];
    });
  }

  async #audit() {
    if (this.#auditing) return;
    this.#auditing = true;
    this.fill();
    for (const { sale_id: id, round } of this.#sales.slice(0, AUDITED)) {
      this.#audits.set(id, await api.audit(id, round, this.signal).catch(() => null));
      if (this.signal.aborted) return;
      this.fill();
    }
    this.#auditing = false;
    this.fill();
  }

  build() {
    this.place.replaceChildren(h('h1', { tabindex: '-1' }, t('op.nav.health')), h('p', { class: 'lead' }, t('op.health.lead')), this.said, this.error, this.results);
    this.fill();
  }

  fill() {
    this.error.textContent = this.problem ? problemWords(this.problem).title : '';
    const stopped = killSwitches.now?.stopped_sales ?? [];
    const state = killSwitches.all ? t('op.banner.title') : stopped.length ? t('op.health.stopped', { n: number(stopped.length) }) : t('op.health.running');
    const dead = (this.#queues ?? []).reduce((sum, queue) => sum + (queue.dead ?? 0), 0);
    replace(this.results,
      box('op.health.kill_switches', h('p', { class: killSwitches.all || stopped.length ? 'verdict found' : 'verdict clean' }, state),
        stopped.length ? h('ul', {}, stopped.map((id) => h('li', {}, h('a', { href: `#/sales/${id}` }, id)))) : null),
      box('op.queues', this.#queues === null ? h('p', { class: 'quiet' }, t('loading'))
        : this.#queues.length === 0 ? h('p', { class: 'quiet' }, t('op.unknown'))
          : [h('p', { class: dead ? 'verdict found' : 'verdict clean' }, dead ? t('op.health.dead', { n: number(dead) }) : t('op.health.no_dead')),
            listing(t('op.queues'), QUEUES, this.#queues.map((one) => this.#queue(one))), dead ? h('p', { class: 'quiet' }, t('op.health.dead.text')) : null]),
      box('op.health.audits', this.#sales.length === 0 ? empty(t('op.health.none.title'), t('op.health.none.text'))
        : [h('div', { class: 'actions' }, button(t('op.health.audit'), () => this.#audit(), { class: 'secondary', 'data-keep': 'audit', 'aria-disabled': this.#auditing ? 'true' : null })),
          listing(t('op.health.audits'), SALES, this.#sales.map((sale) => this.#sale(sale)))]));
  }

  #queue({ queue, dead, waiting, in_flight: inFlight, delayed }) {
    const name = t(`op.queue.${queue}`);
    const send = () => asking({ title: t('op.redrive'), text: t('op.redrive.text', { queue: name }), go: t('op.redrive') }, () => api.redrive(queue), this.say);
    return [name, shown(dead), shown(waiting), shown(inFlight), shown(delayed),
      dead ? button(t('op.redrive'), send, { class: 'secondary', 'data-keep': `redrive ${queue}`, 'aria-label': `${t('op.redrive')}: ${name}` }) : '–'];
  }

  #sale(sale) {
    const audit = this.#audits.get(sale.sale_id);
    const link = h('a', { href: `#/sales/${sale.sale_id}/audit`, 'data-keep': sale.sale_id }, sale.title);
    return [link, standingBadge(sale), this.#audits.has(sale.sale_id) ? verdictOf(audit) : t('op.audit.none')];
  }
}
