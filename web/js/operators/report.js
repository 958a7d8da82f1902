// The report of a round.

import { isFree } from '../awards.js';
import { h, replace } from '../dom.js';
import { moment, money, number, span } from '../format.js';
import { t } from '../i18n.js';
import { button, problemWords, trouble } from '../parts.js';
import { again, api } from './api.js';
import { STATES } from './listing.js';
import { Screen, box, figure, percent } from './screen.js';

/** Users who hold their unit. */
export const soldOf = ({ orders }) => orders.pending_payment + orders.granted + orders.paid;

/** Adds up the pages of a report, at most so many, and calls `told` with each interim sum. `whole`: the sum is complete. */
export async function summed(id, round, { signal, pages = Infinity, told = () => {} }) {
  let sums = null;
  let cursor = null;
  for (let page = 0; page < pages; page += 1) {
    const from = cursor;
    const { next_cursor: next, ...one } = await again(() => api.report(id, round, from, signal), signal);
    sums = sums ? added(sums, one) : one;
    cursor = next ?? null;
    if (cursor === null) break;
    told(sums);
  }
  return { ...sums, whole: cursor === null };
}

function added(sums, { orders, revenue_minor: revenue, refunds, last_kept_at: last }) {
  const all = { ...sums.refunds };
  for (const [currency, one] of Object.entries(refunds)) {
    const before = all[currency] ?? { due: 0, due_minor: 0, made: 0, made_minor: 0 };
    all[currency] = Object.fromEntries(Object.keys(before).map((name) => [name, before[name] + one[name]]));
  }
  const latest = [sums.last_kept_at, last].filter(Boolean).sort((one, other) => Date.parse(one) - Date.parse(other)).at(-1);
  return {
    ...sums, orders: Object.fromEntries(STATES.map((state) => [state, sums.orders[state] + orders[state]])),
    revenue_minor: sums.revenue_minor + revenue, refunds: all, ...(latest ? { last_kept_at: latest } : {}),
  };
}

/** The report of a round, for the screen and for paper. */
export class Report extends Screen {
  #sale;
  #round;
  #sums = null;
  /** Counts of the steps towards an order, available while Redis has the round. */
  #answers = null;

  constructor(place, sale, round, signal) {
    super(place, signal);
    [this.#sale, this.#round] = [sale, round ?? sale.round];
    this.#load();
  }

  #load() {
    this.problem = null;
    const { sale_id: id, round } = this.#sale;
    const { signal } = this;
    const told = (sums) => {
      this.#sums = sums;
      this.fill();
    };
    this.loading(async () => {
      const [sums, live] = await Promise.all([
        summed(id, this.#round, { signal, told }),
        this.#round === round ? api.live(id, signal).catch(() => null) : null,
      ]);
      this.#sums = sums;
      this.#answers = live?.round === this.#round ? live.answers : null;
    });
    this.fill();
  }

  fill() {
    const sums = this.#sums;
    const { round } = this.#sale;
    const anew = button(t('op.report.again'), () => this.#load(), { class: 'secondary', 'data-keep': 'again', 'aria-disabled': this.running ? 'true' : null });
    const go = (to, name) => (to < 1 || to > round ? null
      : h('a', { class: 'button', href: `#/sales/${this.#sale.sale_id}/report?round=${to}`, 'data-keep': name }, t('op.round', { n: to })));
    replace(this.place,
      h('div', { class: 'actions' }, go(this.#round - 1, 'before'), go(this.#round + 1, 'after'),
        button(t('print'), () => window.print(), { class: 'primary', 'data-keep': 'print' }), anew,
        h('p', { class: 'said', role: 'status' }, this.running ? (sums ? t('op.report.running', { n: number(all(sums)) }) : t('loading')) : '')),
      this.problem ? trouble(problemWords(this.problem)) : null,
      ...(sums ? this.#parts(sums) : []));
  }

  #parts(sums) {
    const { orders, currency, refunds, total } = sums;
    const [free, over] = [isFree(sums), Date.parse(sums.as_of) >= Date.parse(sums.closes_at)];
    const figures = (name, ...rows) => box(name, h('dl', { class: 'figures' }, rows));
    const states = STATES.filter((state) => (free ? !['pending_payment', 'paid', 'expired'].includes(state) : state !== 'granted') || orders[state] > 0);
    const back = Object.entries(refunds);
    const owed = (name) => back.filter(([, one]) => one[name] > 0).map(([of, one]) => `${number(one[name])} · ${money(one[`${name}_minor`], of)}`).join(', ') || number(0);
    return [
      h('section', { class: 'box report-head' },
        h('h2', {}, t('op.report.of', { title: sums.title, n: sums.round })),
        h('p', { class: 'quiet' }, `${moment(sums.opens_at)} – ${moment(sums.closes_at)}`),
        h('p', { class: 'quiet' }, t(sums.whole && over && orders.pending_payment === 0 ? 'op.report.final' : 'op.report.so_far', { at: moment(sums.as_of) }))),
      figures('op.report.result',
        figure('op.report.sold', t('op.report.of_total', { n: number(soldOf(sums)), total: number(total) }), total > 0 ? percent(soldOf(sums) / total) : ''),
        free ? null : figure('op.report.revenue', money(sums.revenue_minor, currency)),
        figure('op.report.sold_out', this.#soldOut(sums)),
        free ? null : figure('op.report.due', owed('due')), free ? null : figure('op.report.made', owed('made'))),
      figures('op.report.orders', figure('op.report.all', number(all(sums))),
        ...states.map((state) => figure(`op.state.${state}`, number(orders[state]), share(orders[state], all(sums))))),
      this.#steps(sums),
    ];
  }

  /** How long the units lasted. */
  #soldOut(sums) {
    if (soldOf(sums) < sums.total || !sums.last_kept_at) return t('op.report.not_sold_out', { n: number(sums.total - soldOf(sums)) });
    const seconds = (Date.parse(sums.last_kept_at) - Date.parse(sums.opens_at)) / 1000;
    return t('op.report.after', { span: seconds < 0 ? t('op.report.before_opening') : span(Math.max(1, seconds)), at: moment(sums.last_kept_at) });
  }

  /** From the question to the paid order: each step with its share of the previous one. */
  #steps(sums) {
    const { orders } = sums;
    const counted = this.#answers;
    const steps = [
      ...(counted ? [['challenged', counted.challenged ?? 0], ['admitted', counted.admitted ?? 0], ['accepted', counted.accepted ?? 0]] : []),
      ['ordered', all(sums)], isFree(sums) ? ['granted', orders.granted] : ['paid', orders.paid],
    ];
    const most = Math.max(1, ...steps.map(([, n]) => n));
    return box('op.report.steps',
      h('ol', { class: 'steps' }, steps.map(([name, n], at) => h('li', {},
        h('span', {}, t(`op.report.step.${name}`)),
        h('progress', { max: most, value: String(n), 'aria-hidden': 'true' }),
        h('strong', {}, number(n)), h('small', {}, at > 0 ? share(n, steps[at - 1][1]) : '')))),
      h('p', { class: 'quiet' }, t(counted ? 'op.report.steps.note' : 'op.report.steps.none')));
  }
}

const all = ({ orders }) => STATES.reduce((sum, state) => sum + orders[state], 0);

const share = (n, whole) => (whole > 0 ? percent(n / whole) : '–');
