// All sales, in a table.

import { isFree } from '../awards.js';
import { clock } from '../clock.js';
import { h, replace } from '../dom.js';
import { clockFace, moment, money, number } from '../format.js';
import { t } from '../i18n.js';
import { badge, button, empty, problemWords } from '../parts.js';
import { everySecond, refreshing } from '../timing.js';
import { api } from './api.js';
import { listing, shownWords } from './listing.js';
import { soldOf, summed } from './report.js';
import { Screen } from './screen.js';
import { killSwitches } from './kill-switches.js';

const REFRESH_MS = 15_000;
/** The maximum age of a running sale's figures. One sale at a time is loaded: each takes a page of orders. */
const FIGURES_MS = 30_000;
/** Rows have figures for up to this many pages of orders; the report has the rest. */
const PAGES = 10;
const DAY_MS = 86_400_000;
/** What is shown without a filter: everything that is not over, running sales first. */
const CURRENT = ['open', 'published', 'draft'];
const FILTERS = {
  '': 'op.home.filter.current', draft: 'op.home.filter.draft', published: 'op.standing.published', open: 'op.standing.open', ended: 'op.standing.ended',
  withdrawn: 'op.standing.withdrawn',
};
const COLUMNS = [['op.order.sale'], ['op.order.state'], ['op.time', 'n'], ['op.report.sold', 'n'], ['op.home.revenue', 'n']];

/** The figures of rounds, kept while other screens are open. */
const figures = new Map();

/** Discards the figures: another user has signed in. */
export const forgetFigures = () => figures.clear();

const roundOf = ({ sale_id: id, round }) => `${id}.${round}`;

/** The state of a sale: `draft`, `withdrawn`, `ended`, `stopped`, `paused`, `published` or `open`. */
export function standing(sale) {
  if (sale.state !== 'published') return sale.state;
  const now = clock.now();
  if (now >= Date.parse(sale.closes_at)) return 'ended';
  if (killSwitches.has(sale.sale_id)) return 'stopped';
  if (sale.paused) return 'paused';
  return now < Date.parse(sale.opens_at) ? 'published' : 'open';
}

const LOOKS = { draft: 'draft', withdrawn: 'closed', ended: 'closed', stopped: 'stopped', paused: 'paused', published: 'upcoming', open: 'open' };

export const standingBadge = (sale) => badge(LOOKS[standing(sale)], t(`op.standing.${standing(sale)}`));

/** Says that demand for a sale is far above expectation; otherwise null. */
export const busyBadge = ({ busy }) => (busy ? badge('busy', t('op.busy', { rate: number(busy.requests_per_s) })) : null);

/** A duration that ticks: days beside the clock. */
function face(ms) {
  const days = Math.floor(ms / DAY_MS);
  return days > 0 ? t('op.home.days', { n: number(days), left: clockFace(ms - days * DAY_MS) }) : clockFace(ms);
}

function timeOf(sale) {
  const left = (text) => Date.parse(text) - clock.now();
  if (sale.state === 'withdrawn') return '–';
  if (left(sale.opens_at) > 0) return t('list.opens_in', { left: face(left(sale.opens_at)) });
  if (sale.state === 'draft') return t('op.home.opening_passed');
  if (left(sale.closes_at) > 0) return t('op.home.ends_in', { left: face(left(sale.closes_at)) });
  return moment(sale.closes_at);
}

export class Home extends Screen {
  #filter;
  #sales = [];
  #cursor = null;
  #more = [];
  #loaded = false;
  /** The loaded pages of a filter. */
  #pages = 1;
  #counting = false;
  #times = new Map();

  constructor(place, filter, signal) {
    super(place, signal);
    this.#filter = Object.hasOwn(FILTERS, filter) ? filter : '';
    killSwitches.addEventListener('change', () => this.fill(), { signal });
    this.build();
    refreshing(() => this.#load(), () => REFRESH_MS, signal);
    everySecond(() => 1_000 - (clock.now() % 1_000), () => this.#tick(), signal);
  }

  build() {
    const filter = (state) => h('a', {
      href: state ? `#/?state=${state}` : '#/', 'aria-current': state === this.#filter ? 'page' : null, 'data-keep': `filter ${state}`,
    }, t(FILTERS[state]));
    this.place.replaceChildren(
      h('div', { class: 'board-head' }, h('h1', { tabindex: '-1' }, t('op.nav.sales')),
        h('a', { class: 'primary', href: '#/new', 'data-keep': 'new' }, t('op.new'))),
      h('nav', { class: 'tabs', 'aria-label': t('op.home.filter') }, Object.keys(FILTERS).map(filter)),
      this.error, this.results);
    this.fill();
  }

  async #load() {
    await this.loading(async () => {
      if (this.#filter) await this.#loadPages();
      else await this.#loadCurrent();
      this.#loaded = true;
    });
    this.#count();
  }

  async #loadCurrent() {
    const lists = await Promise.all(CURRENT.map((state) => api.salesIn(state, null, this.signal)));
    // A sale that opens between two of the answers is in both.
    const seen = new Map(lists.flatMap(({ sales }) => sales).toReversed().map((sale) => [sale.sale_id, sale]));
    this.#sales = [...seen.values()].toReversed();
    this.#more = CURRENT.filter((_, at) => lists[at].next_cursor);
  }

  async #loadPages() {
    const sales = [];
    let cursor = null;
    for (let page = 0; page < this.#pages; page += 1) {
      const { sales: more, next_cursor: next } = await api.salesIn(this.#filter, cursor, this.signal);
      sales.push(...more);
      cursor = next ?? null;
      if (cursor === null) break;
    }
    [this.#sales, this.#cursor] = [[...new Map(sales.map((sale) => [sale.sale_id, sale])).values()], cursor];
  }

  /** Sums up the orders of the rows, one round at a time. */
  async #count() {
    if (this.#counting || this.signal.aborted) return;
    this.#counting = true;
    try {
      for (const sale of this.#sales) {
        const kept = figures.get(roundOf(sale));
        const state = standing(sale);
        const begun = sale.state === 'published' && clock.now() >= Date.parse(sale.opens_at) - 604_800_000 && (state !== 'published' || sale.early_access?.length);
        if (!begun || kept?.final || (kept && clock.now() - kept.at < FIGURES_MS) || document.hidden) continue;
        const sums = await summed(sale.sale_id, sale.round, { signal: this.signal, pages: PAGES });
        figures.set(roundOf(sale), { ...sums, at: clock.now(), final: sums.whole && state === 'ended' && sums.orders.pending_payment === 0 && Object.values(sums.refunds).every(({ due }) => due === 0) });
        if (this.signal.aborted) return;
        this.fill();
      }
    } catch {
      // Rows without figures stay so until the next request.
    } finally {
      this.#counting = false;
    }
  }

  #tick() {
    for (const { sale, element } of this.#times.values()) {
      const text = timeOf(sale);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  #row(sale) {
    const time = h('span', { class: 'ticks' }, timeOf(sale));
    this.#times.set(sale.sale_id, { sale, element: time });
    const link = h('a', { class: 'row-title', href: `#/sales/${sale.sale_id}`, 'data-keep': sale.sale_id }, sale.title);
    const known = figures.get(roundOf(sale));
    const isBegun = ['open', 'paused', 'stopped', 'ended'].includes(standing(sale));
    const counted = known?.whole ? known : null;
    const report = known && !known.whole ? h('a', { href: `#/sales/${sale.sale_id}/report` }, t('op.home.in_report')) : null;
    const of = (n) => t('op.report.of_total', { n: n === null ? '…' : number(n), total: number(sale.total) });
    const again = sale.recurrence && sale.state === 'published' ? h('small', { class: 'quiet' }, t('op.round', { n: sale.round })) : null;
    return [
      h('span', { class: 'row-name' }, link, h('small', { class: 'quiet' }, sale.sale_id)),
      h('span', { class: 'badges' }, standingBadge(sale), busyBadge(sale), again), time,
      report ?? of(counted ? soldOf(counted) : isBegun ? null : 0),
      isFree(sale) ? t('free.price') : counted ? money(counted.revenue_minor, sale.currency) : isBegun ? (report ?? '…') : '–',
    ];
  }

  fill() {
    this.error.textContent = this.problem ? `${problemWords(this.problem).title}. ${this.#loaded ? t('op.home.old') : ''}` : '';
    this.#times.clear();
    const next = () => {
      this.#pages += 1;
      this.#load();
    };
    const more = this.#more.map((state) => h('a', { href: `#/?state=${state}` }, t(FILTERS[state])));
    const count = this.#sales.length;
    replace(this.results,
      this.#loaded ? null : h('p', { class: 'quiet' }, this.problem ? '' : t('loading')),
      count > 0 ? listing(t('op.nav.sales'), COLUMNS, this.#sales.map((sale) => this.#row(sale))) : null,
      this.#loaded && count === 0 ? empty(t('op.home.none.title'), t(this.#filter ? 'op.home.none.filtered' : 'op.home.none.text')) : null,
      count > 0 && this.#filter ? h('p', { class: 'quiet shown' }, shownWords(count, this.#cursor !== null)) : null,
      !this.#filter && more.length ? h('p', { class: 'quiet' }, t('op.home.more'), ' ', more.flatMap((link, at) => (at ? [', ', link] : [link]))) : null,
      this.#filter && this.#cursor ? button(t('op.more'), next, { class: 'secondary more', 'data-keep': 'more' }) : null);
  }
}
