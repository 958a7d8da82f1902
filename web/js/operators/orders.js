// Finds orders, and exports those of a round.

import { announce, h } from '../dom.js';
import { moment, number } from '../format.js';
import { t } from '../i18n.js';
import { button, empty, problemWords } from '../parts.js';
import { api } from './api.js';
import { exporting } from './exporting.js';
import { STATES, amount, listing, orderLink, refundBadge, shownWords, stateBadge } from './listing.js';
import { Screen } from './screen.js';

const FILTERS = ['sale', 'round', 'user', 'state', 'from', 'to'];
const MOMENTS = ['from', 'to'];
/** Two of these fit side by side on a phone. */
const HALVES = ['round', 'state'];
const COLUMNS = [['op.order.id'], ['op.order.user', 'user'], ['op.order.unit', 'n'], ['op.order.state'], ['op.order.price', 'n'], ['op.order.ordered']];
/** States without anything to export. */
const NOT_FOUND = ['unknown_sale', 'invalid_request'];
/** A page of a state can be empty without being the last one: so many pages are searched before asking the user. */
const PAGES_AT_ONCE = 5;

/** The filters in a hash that are filled in; anything else is ignored. */
export function filterOf(query) {
  const asked = new URLSearchParams(query);
  return Object.fromEntries(FILTERS.map((name) => [name, asked.get(name)?.trim() ?? '']).filter(([, value]) => value !== ''));
}

export function hashOf(filter) {
  const query = String(new URLSearchParams(filter));
  return query ? `#/orders?${query}` : '#/orders';
}

/** A time in the format of the browser's own field; empty if invalid. */
function local(text) {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? '' : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The error in a filter, as `[field, words]`. The system checks the rest. */
function wrong({ sale, round, user, from, to }) {
  if (!sale && !user) return ['sale', t(round ? 'op.orders.needs_sale' : 'op.orders.needs')];
  if (round && !sale) return ['sale', t('op.orders.needs_sale')];
  if (round && !/^[1-9]\d{0,9}$/.test(round)) return ['round', t('op.orders.round.wrong')];
  if (from && to && Date.parse(from) >= Date.parse(to)) return ['to', t('op.orders.turned')];
  return null;
}

export class Orders extends Screen {
  #filter = {};
  #orders = [];
  #cursor = null;
  /** `idle`, `loading`, `loaded`. */
  #state = 'idle';
  #asked = new AbortController();
  #sales = [];
  #form = null;
  error = h('p', { class: 'error', id: 'orders-error', role: 'alert' });
  #export = h('section', { class: 'box export', 'aria-labelledby': 'export-title' });
  /** The export as it was shown last. */
  #exported = exporting.now;
  #fixed;
  /** The hash that was set here, until its event comes. */
  #set = null;

  /** With `fixed`, for one sale: the filter is part of the sale's address, and the heading is that of its page. */
  constructor(place, query, signal, fixed = null) {
    super(place, signal);
    this.#fixed = fixed;
    signal.addEventListener('abort', () => this.#asked.abort(), { once: true });
    exporting.addEventListener('change', () => this.#fillExport(), { signal });
    this.#filter = this.#filterOf(query);
    this.build(this.#filter);
    this.#find();
    if (!fixed) this.#suggest();
  }

  /** The hash has changed. */
  go(query) {
    const isSet = location.hash === this.#set;
    this.#set = null;
    if (!isSet) this.#apply(query);
  }

  #apply(query) {
    this.#filter = this.#filterOf(query);
    for (const name of this.#names) {
      const value = this.#filter[name] ?? '';
      this.#form.elements[name].value = MOMENTS.includes(name) ? local(value) : value;
    }
    this.#find();
  }

  #filterOf(query) {
    return { ...filterOf(query), ...this.#fixed };
  }

  /** The available filters. */
  get #names() {
    return FILTERS.filter((name) => !(name in (this.#fixed ?? {})));
  }

  /** The hash of a filter, without its fixed part. */
  #hashOf(filter) {
    if (!this.#fixed) return hashOf(filter);
    const { sale, ...rest } = filter;
    const query = String(new URLSearchParams(rest));
    return `#/sales/${sale}/orders${query ? `?${query}` : ''}`;
  }

  build(filter = this.#values()) {
    const input = (name, more = {}) => this.#field(name, h('input', { id: `orders-${name}`, name, value: filter[name] ?? '', autocomplete: 'off', ...more }));
    const plain = { autocapitalize: 'none', spellcheck: 'false' };
    const states = [['', t('op.orders.any')], ...STATES.map((state) => [state, t(`op.state.${state}`)])];
    const clear = () => {
      this.#follow({ ...this.#fixed });
      this.#form.elements[this.#names[0]].focus();
    };
    this.#form = h('form', { class: 'filter', novalidate: true, onsubmit: (event) => this.#submit(event), 'aria-label': t('op.orders.filter') },
      this.#fixed ? null : [input('sale', { ...plain, maxlength: 48, list: 'orders-sales' }), h('datalist', { id: 'orders-sales' })],
      input('round', { inputmode: 'numeric', maxlength: 10 }),
      this.#field('state', h('select', { id: 'orders-state', name: 'state' }, states.map(([value, text]) => (
        h('option', { value, selected: value === (filter.state ?? '') }, text))))),
      input('user', { ...plain, maxlength: 255 }),
      input('from', { type: 'datetime-local', value: local(filter.from) }),
      input('to', { type: 'datetime-local', value: local(filter.to) }),
      h('div', { class: 'actions' },
        h('button', { type: 'submit', class: 'primary' }, t('op.orders.find')), button(t('op.orders.clear'), clear, { class: 'secondary' }), this.error));
    this.place.replaceChildren(
      ...(this.#fixed ? [] : [h('h1', { tabindex: '-1' }, t('op.nav.orders')), h('p', { class: 'lead' }, t('op.orders.lead'))]),
      this.#form, this.#export, this.said, this.results);
    this.#fillSales();
    this.fill();
  }

  #field(name, control) {
    return h('div', { class: HALVES.includes(name) ? 'field half' : 'field' }, h('label', { for: `orders-${name}` }, t(`op.orders.${name}`)), control);
  }

  /** The filled-in values, with times in the system's format. */
  #values() {
    const values = Object.fromEntries(new FormData(this.#form));
    for (const name of MOMENTS) {
      const kept = this.#filter[name];
      // A time from a link can be more precise than the field shows.
      if (values[name]) values[name] = local(kept) === values[name] ? kept : new Date(values[name]).toISOString();
    }
    return this.#filterOf(new URLSearchParams(values));
  }

  #submit(event) {
    event.preventDefault();
    const filter = this.#values();
    const fault = wrong(filter);
    if (!fault) return this.#follow(filter);
    this.#blame(...fault);
    return this.#form.elements[fault[0]].focus();
  }

  /** Puts a filter into the hash, and applies it at once: by the time the hash's event comes, the operator may have typed on. */
  #follow(filter) {
    const hash = this.#hashOf(filter);
    if (location.hash !== hash) location.hash = this.#set = hash;
    this.#apply(new URLSearchParams(filter));
  }

  #blame(name, text) {
    for (const control of this.#form.elements) {
      const blamed = name !== null && control.name === name;
      for (const [key, value] of [['aria-invalid', 'true'], ['aria-describedby', 'orders-error']]) {
        if (blamed) control.setAttribute(key, value);
        else control.removeAttribute(key);
      }
    }
    this.error.textContent = text;
  }

  #find() {
    this.#asked.abort();
    this.#asked = new AbortController();
    [this.#orders, this.#cursor, this.problem, this.#state] = [[], null, null, 'idle'];
    const isEmpty = Object.keys(this.#filter).length === 0;
    const fault = isEmpty ? null : wrong(this.#filter);
    this.#blame(...(fault ?? [null, '']));
    if (isEmpty || fault) this.fill();
    else this.#load();
  }

  async #load() {
    if (this.#state === 'loading') return;
    const { signal } = this.#asked;
    const from = this.#orders.length;
    const goesOn = this.#state === 'loaded';
    this.#state = 'loading';
    this.problem = null;
    this.#blame(null, '');
    this.fill();
    try {
      for (let pages = 0; pages < PAGES_AT_ONCE; pages += 1) {
        const query = new URLSearchParams({ ...this.#filter, ...(this.#cursor ? { cursor: this.#cursor } : {}) });
        const { orders, next_cursor: next } = await api.orders(query, signal);
        if (signal.aborted) return;
        this.#orders.push(...orders);
        this.#cursor = next ?? null;
        if (orders.length > 0 || !next) break;
      }
    } catch (error) {
      if (signal.aborted) return;
      this.problem = error;
    }
    this.#state = 'loaded';
    this.fill();
    // After "more", the focus moves to the first new row.
    if (goesOn) this.results.querySelectorAll('td a')[from]?.focus();
  }

  fill() {
    this.#fillExport();
    if (this.problem) {
      const { title } = problemWords(this.problem);
      const { detail } = this.problem.members ?? {};
      const field = FILTERS.find((name) => detail?.startsWith(`${name}:`));
      this.#blame(this.problem.code === 'unknown_sale' ? 'sale' : field ?? null, detail ? `${title} (${detail})` : title);
    }
    const loading = this.#state === 'loading';
    const found = this.#orders.length;
    this.said.textContent = loading ? t('loading') : found > 0 ? shownWords(found, this.#cursor !== null) : '';
    const more = (key) => button(t(key), () => this.#load(), { class: 'secondary more', 'aria-disabled': loading ? 'true' : null });
    const rows = found > 0 ? listing(t('op.nav.orders'), COLUMNS, this.#orders.map(row)) : null;
    const nothing = this.#state === 'loaded' && found === 0 && !this.problem;
    this.results.replaceChildren(...[
      rows,
      nothing && !this.#cursor ? empty(t('op.orders.none.title'), t('op.orders.none.text')) : null,
      nothing && this.#cursor ? empty(t('op.orders.far.title'), t('op.orders.far.text'), more('op.orders.further')) : null,
      found > 0 && this.#cursor ? more('op.more') : null,
    ].filter(Boolean));
  }

  #fillExport() {
    const isFound = !wrong(this.#filter) && !NOT_FOUND.includes(this.problem?.code);
    const { sale, round } = isFound ? this.#filter : {};
    const { now } = exporting;
    const running = now?.state === 'running';
    this.#export.hidden = !sale && !now;
    const focused = this.#export.contains(document.activeElement);
    const which = (one) => (one.round ? t('op.export.round', one) : t('op.export.latest', one));
    const go = running
      ? button(t('op.export.cancel'), () => exporting.cancel(), { class: 'secondary' })
      : button(t('op.export'), () => exporting.start(sale, round), { class: 'secondary' });
    this.#export.replaceChildren(...[
      h('h2', { id: 'export-title' }, t('op.export')),
      h('p', { class: 'quiet' }, running ? which(now) : sale ? `${which({ sale, round })} ${t('op.export.text')}` : ''),
      h('div', { class: 'exporting' }, running || sale ? go : null, h('p', { class: 'rows' }, now ? this.#exportWords(now) : '')),
    ]);
    if (focused) this.#export.querySelector('button')?.focus();
    // Screen readers do not announce every page of it.
    if (now && !running && this.#exported !== now) announce(this.#exportWords(now));
    this.#exported = now;
  }

  #exportWords({ sale, round, state, rows, about, problem }) {
    const values = { sale, round, n: number(rows), all: number(about ?? 0), title: problem ? problemWords(problem).title : '' };
    return t(state === 'running' && about === null ? 'loading' : `op.export.${state}`, values);
  }

  /** Running and upcoming sales as suggestions; any other one can be typed. */
  async #suggest() {
    try {
      this.#sales = (await api.sales(this.signal)).sales;
      this.#fillSales();
    } catch {
      // Without suggestions, users type.
    }
  }

  #fillSales() {
    this.#form.querySelector('datalist')?.replaceChildren(...this.#sales.map(({ sale_id: id, title }) => h('option', { value: id }, title)));
  }
}

function row(order) {
  return [
    orderLink(order.reservation_id), order.user, number(order.unit),
    h('span', { class: 'badges' }, stateBadge(order.state), refundBadge(order.refund)), amount(order), moment(order.ordered_at),
  ];
}
