// The operators' actions on a sale, and where its units are.

import { h, replace } from '../dom.js';
import { moment, money, number } from '../format.js';
import { language, t } from '../i18n.js';
import { button, empty, problemWords, trouble } from '../parts.js';
import { api } from './api.js';
import { listing } from './listing.js';
import { Screen, box, figure } from './screen.js';

const LOG_COLUMNS = [['op.log.at'], ['op.act'], ['op.log.parameters'], ['op.log.by', 'user']];

/** The history of a sale, newest first. */
export function fillLog(place, sale) {
  const row = ({ at, by, action, parameters = '' }) => [
    moment(at), language.has(`op.log.did.${action}`) ? t(`op.log.did.${action}`) : action,
    parameters ? h('span', { class: 'parameters' }, parameters) : '–', by ?? t('op.log.system'),
  ];
  const rows = sale.log.toReversed().map(row);
  place.replaceChildren(h('p', { class: 'quiet' }, t('op.log.lead')),
    rows.length ? listing(t('op.tab.log'), LOG_COLUMNS, rows) : empty(t('op.log.none.title'), t('op.log.none.text')));
}

/** The audit of a round: where every unit is. */
export class AuditView extends Screen {
  #sale;
  #audit = null;

  constructor(place, sale, signal) {
    super(place, signal);
    this.#sale = sale;
    this.#load();
  }

  #load() {
    this.problem = null;
    this.loading(async () => {
      this.#audit = await api.audit(this.#sale.sale_id, this.#sale.round, this.signal);
    });
    this.fill();
  }

  fill() {
    const audit = this.#audit;
    const again = button(t('op.audit.again'), () => this.#load(), { class: 'secondary', 'data-keep': 'again', 'aria-disabled': this.running ? 'true' : null });
    replace(this.place,
      h('p', { class: 'quiet' }, t('op.audit.lead', { n: this.#sale.round })), h('div', { class: 'actions' }, again, h('p', { class: 'said', role: 'status' }, this.running ? t('loading') : '')),
      this.problem ? trouble(problemWords(this.problem)) : null,
      ...(audit ? this.#parts(audit) : []));
  }

  #parts(audit) {
    const row = (name, n) => figure(name, number(n));
    const places = ['total', 'free', 'held', 'ordered'].map((place) => row(place === 'ordered' ? 'op.audit.ordered' : `op.units.${place}`, audit[place]));
    const wrong = ['oversold', 'lost', 'duplicated'].map((name) => row(`op.audit.${name}`, audit[name]));
    const list = audit.discrepancies.map(({ unit, wrong: what, found }) => h('li', {}, t('op.audit.unit', { unit, wrong: what, found: found.join('; ') })));
    return [
      h('section', { class: 'box' }, verdictOf(audit), h('dl', { class: 'figures' }, places, wrong)),
      list.length ? box('op.audit.list', h('ul', {}, list)) : null,
      audit.awarded ? this.#awarded(audit.awarded) : null,
    ];
  }

  #awarded({ amount, prizes = [], blanks, orders, contradictions }) {
    const { allocation, currency } = this.#sale;
    const words = (value) => (amount ? money(value, currency) : number(value));
    const kinds = [
      ...(amount ? [[t('op.refunds.amount'), amount]] : []),
      ...prizes.map((tally, at) => [allocation.prizes?.[at]?.name ?? String(at + 1), tally]),
      ...(blanks ? [[t('award.blank'), blanks]] : []),
    ];
    const columns = [['op.draw'], ['op.units.total', 'n'], ['op.audit.awarded', 'n'], ['op.audit.unclaimed', 'n']];
    const cells = kinds.map(([name, tally]) => [name, words(tally.total), words(tally.awarded), words(tally.unclaimed)]);
    return box('op.draw', listing(t('op.draw'), columns, cells),
      h('p', { class: 'quiet' }, t('op.audit.awards', { orders: number(orders), wrong: number(contradictions) })));
  }
}

/** The result of an audit, in one line. */
export function verdictOf(audit) {
  if (!audit) return h('p', { class: 'verdict' }, t('op.audit.none'));
  const kind = !audit.clean ? 'found' : audit.in_redis ? 'clean' : 'not_loaded';
  return h('p', { class: `verdict ${kind}` }, t(`op.audit.${kind}`, audit));
}
