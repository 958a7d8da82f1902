// One sale: its tabs, each with its own address.

import { h } from '../dom.js';
import { hour } from '../early.js';
import { moment, number } from '../format.js';
import { language, t } from '../i18n.js';
import { badge, nothing, problemWords } from '../parts.js';
import { refreshing } from '../timing.js';
import { api } from './api.js';
import { Board } from './board.js';
import { Editor } from './editor.js';
import { busyBadge, standingBadge } from './home.js';
import { AuditView, fillLog } from './log.js';
import { Orders } from './orders.js';
import { Report } from './report.js';
import { killSwitches } from './kill-switches.js';
import { Screen } from './screen.js';

export const TABS = ['', 'orders', 'audit', 'log', 'report', 'settings'];
const REFRESH_MS = 5_000;
/** The last titles, so that a tab has one at once. */
const titles = new Map();

/** The warning for demand far above expectation. */
function busyWords({ busy, throttle_requests_per_s: limited }) {
  if (!busy) return '';
  const text = t('op.busy.text', { rate: number(busy.requests_per_s), expected: number(busy.expected_requests_per_s) });
  return limited ? text : `${text} ${t('op.busy.do')}`;
}

/** Who may buy when, and who has a quota until when. */
function earlyWords({ opens_at: opens, early_access: all = [] }) {
  const at = (s) => hour(Date.parse(opens) + s * 1000);
  return all.flatMap(({ group, lead_s: lead, quota }) => [
    ...(lead > 0 ? [t('op.early.when', { group, at: at(-lead) })] : []),
    ...(quota ? [t('op.early.quota', { group, n: number(quota.units), at: at(quota.for_s) })] : []),
  ]);
}

export class SalePage extends Screen {
  #id;
  #tab;
  #query;
  #sale = null;
  #shown = null;
  #heading;
  #badges = h('span', { class: 'badges' });
  #when = h('p', { class: 'quiet' });
  #busy = h('p', { class: 'warned', role: 'status' });
  #stale = h('p', { class: 'stale', role: 'status' });
  #tabs = h('nav', { class: 'tabs' });
  #body = h('div', { class: 'tab' });

  constructor(place, id, tab, query, signal) {
    super(place, signal);
    [this.#id, this.#tab, this.#query] = [id, tab, query];
    this.#heading = h('h1', { tabindex: '-1' }, titles.get(id) ?? id);
    place.classList.add('board');
    place.replaceChildren(
      h('a', { class: 'back', href: '#/' }, t('op.nav.sales')),
      h('div', { class: 'board-head' }, this.#heading, this.#badges, this.#when, this.#busy, this.#stale), this.#tabs, this.#body);
    this.#fillTabs();
    this.#body.append(h('p', { class: 'lead' }, t('loading')));
    killSwitches.addEventListener('change', () => this.#fillHead(this.#sale), { signal });
    // The board gets this every second; the other tabs need it occasionally.
    if (tab === '') this.#show({ sale_id: id });
    else refreshing(() => this.#load(), () => REFRESH_MS, signal);
  }

  /** The orders' filter has changed. */
  go(query) {
    this.#shown?.go?.(query);
  }

  get title() {
    return titles.get(this.#id) ?? this.#id;
  }

  build() {
    this.#fillTabs();
    this.#fillHead(this.#sale);
    if (this.#tab === 'log' && this.#sale) fillLog(this.#body, this.#sale);
  }

  #fillTabs() {
    this.place.querySelector('.back').textContent = t('op.nav.sales');
    this.#tabs.setAttribute('aria-label', t('op.tabs'));
    this.#tabs.replaceChildren(...TABS.map((tab) => h('a', {
      href: `#/sales/${this.#id}${tab ? `/${tab}` : ''}`, 'aria-current': tab === this.#tab ? 'page' : null, 'data-keep': `tab ${tab}`,
    }, t(`op.tab.${tab || 'live'}`))));
  }

  async #load() {
    try {
      const sale = await api.sale(this.#id, this.signal);
      this.#fillHead(sale);
      if (this.#tab === 'log') fillLog(this.#body, sale);
      else if (!this.#shown) this.#show(sale);
      this.#sale = sale;
    } catch (error) {
      if (this.signal.aborted) return;
      this.#fillHead(this.#sale, null, error);
    }
  }

  #show(sale) {
    if (this.#tab !== '') this.#body.replaceChildren();
    const { signal } = this;
    this.#shown = {
      '': () => new Board(this.#body, sale, {
        seen: (seen, live, problem, heardAt) => this.#fillHead(seen, live, problem, heardAt),
        gone: () => {
          location.hash = '#/?state=draft';
        },
      }, signal),
      orders: () => new Orders(this.#body, this.#query, signal, { sale: this.#id }),
      audit: () => new AuditView(this.#body, sale, signal),
      report: () => new Report(this.#body, sale, Number(new URLSearchParams(this.#query).get('round')) || null, signal),
      settings: () => new Editor(this.#body, { sale }, signal),
    }[this.#tab]();
  }

  #fillHead(sale, live = null, problem = null, heardAt = 0) {
    if (!sale) {
      if (problem?.code === 'unknown_sale') {
        const isFocused = this.place.contains(document.activeElement);
        this.place.replaceChildren(...nothing(problemWords(problem)));
        if (isFocused) this.place.querySelector('h1').focus();
      } else if (problem) this.#stale.textContent = problemWords(problem).title;
      return;
    }
    this.#sale = sale;
    titles.set(this.#id, sale.title);
    if (this.#heading.textContent !== sale.title) {
      this.#heading.textContent = sale.title;
      document.title = `${sale.title} · ${t('brand')}`;
    }
    // Another process may have paused it, which the live figures show first.
    const paused = sale.paused || live?.state === 'paused';
    const both = killSwitches.has(sale.sale_id) && paused && sale.paused ? badge('paused', t('state.paused')) : null;
    const badges = [standingBadge({ ...sale, paused }), both, sale.throttle_requests_per_s ? badge('paused', t('op.throttled')) : null, busyBadge(sale)].filter(Boolean);
    if (this.#badges.textContent !== badges.map((one) => one.textContent).join('')) this.#badges.replaceChildren(...badges);
    const times = `${moment(sale.opens_at)} – ${moment(sale.closes_at)}`;
    const again = sale.recurrence ? [t('op.again', { zone: sale.recurrence.time_zone })] : [];
    const busy = busyWords(sale);
    if (this.#busy.textContent !== busy) this.#busy.textContent = busy;
    this.#when.textContent = [this.#id, t('op.round', { n: sale.round }), times, ...again, ...earlyWords(sale)].join(' · ');
    this.#stale.textContent = !problem ? '' : heardAt ? t('op.stale', { at: new Date(heardAt).toLocaleTimeString(language.tag) }) : problemWords(problem).title;
  }
}
