// The editor of a sale, in three parts: the product, its time, its rules. Input is kept whatever fails.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, number, span } from '../format.js';
import { t } from '../i18n.js';
import { stored } from '../kept.js';
import { button, problemWords } from '../parts.js';
import { session } from '../session.js';
import { MAX_TIMER_MS } from '../timing.js';
import { api } from './api.js';
import { failure } from './dialog.js';
import { planCommand } from './publish.js';
import { preview } from './preview.js';
import { Screen } from './screen.js';
import { blamed, blank, changes, created, digitsOf, formOf, idOf, merged, read } from './terms.js';
import { ownZone, zones } from './zone.js';

const STORED = 'form:';
/** From this time before its opening, a round is loaded and its opening is fixed. */
const LOADED_MS = 600_000;
const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'CNY', 'JPY', 'HKD', 'SGD', 'AUD', 'CAD', 'SEK', 'DKK', 'NOK', 'PLN', 'KRW', 'INR', 'BRL'];

/** Promised to the buyers of a round, or only possible for a draft. */
const OF_A_DRAFT = ['kind', 'currency', 'price', 'amount', 'min', 'parts', 'prizes', 'draw', 'beacon', 'again', 'limit', 'window', 'settlement',
  'early', 'group', 'lead', 'quota', 'quota_for', 'rain', 'at_once', 'every_units', 'every_s', 'drops', 'line', 'opens_early', 'lanes'];
/** The terms' names for the fields that a round can change. */
const OF_A_ROUND = ['title', 'description', 'pictures', 'list_price_minor', 'terms_url', 'expected_audience', 'opens_at', 'closes_at', 'total', 'door', 'gate', 'line'];

const units = ({ kind }) => kind === 'units';
const sold = (form) => units(form) && form.settlement === 'paid';
const early = (form) => units(form) && form.early === 'yes';
const rains = (form) => units(form) && form.rain === 'yes';
const lines = ({ line }) => line === 'yes';
const split = ({ kind }) => kind === 'split';
const prizes = ({ kind }) => kind === 'prizes';
const yesNo = () => [['no', t('op.no')], ['yes', t('op.yes')]];
const decimal = { inputmode: 'decimal' };
const whole = { inputmode: 'numeric' };
const plain = { autocapitalize: 'none', spellcheck: 'false' };

/** The fields of each part; `when` says which forms have them. */
const PARTS = {
  product: [
    { name: 'kind', options: () => ['units', 'split', 'prizes'].map((kind) => [kind, t(`op.kind.${kind}`)]), wide: true },
    { name: 'title', maxlength: 200, wide: true }, { name: 'sale_id', ...plain, maxlength: 48, hint: true, wide: true },
    { name: 'description', lines: 4, maxlength: 2_000, hint: true }, { name: 'pictures', lines: 2, ...plain, hint: true },
    { name: 'terms_url', ...plain, type: 'url', wide: true, placeholder: 'https://' },
    { name: 'settlement', when: units, options: () => [['paid', t('op.create.paid')], ['free', t('op.create.free')]] },
    { name: 'currency', list: 'currencies', maxlength: 3, ...plain },
    { name: 'price', when: sold, ...decimal, placeholder: '9.90' }, { name: 'list_price', when: sold, ...decimal, optional: true },
    { name: 'amount', when: split, ...decimal }, { name: 'min', when: split, ...decimal },
    { name: 'parts', when: split, options: () => [['drawn', t('op.create.drawn')], ['equal', t('op.create.equal')]] },
    { name: 'prizes', when: prizes, lines: 4, placeholder: () => t('op.create.prizes.example') },
    { name: 'draw', when: prizes, options: () => [['instant', t('op.create.instant')], ['at_end', t('op.create.at_end')]] },
    { name: 'total', ...whole, words: ({ kind }) => ({ units: 'op.form.total', split: 'op.create.parts', prizes: 'op.create.tickets' })[kind] },
    { name: 'expected_audience', ...whole, optional: true, hint: true },
  ],
  time: [
    { name: 'zone', list: 'zones', ...plain, hint: true, wide: true }, { name: 'opens', type: 'datetime-local' }, { name: 'closes', type: 'datetime-local' },
    { name: 'again', options: () => [['no', t('op.form.again.no')], ['yes', t('op.form.again.yes')]], wide: true },
  ],
  rules: [
    { name: 'limit', when: units, ...whole }, { name: 'window', when: sold, ...decimal },
    { name: 'beacon', when: ({ kind }) => kind !== 'units', options: () => [['no', t('op.create.beacon.no')], ['yes', t('op.create.beacon.yes')]], wide: true },
    { name: 'early', when: units, options: yesNo, wide: true },
    { name: 'group', when: early, ...plain, maxlength: 48 }, { name: 'lead', when: early, ...decimal },
    { name: 'quota', when: early, ...whole }, { name: 'quota_for', when: early, ...decimal },
    { name: 'rain', when: units, options: yesNo, wide: true },
    { name: 'at_once', when: rains, ...whole }, { name: 'every_units', when: rains, ...whole }, { name: 'every_s', when: rains, ...whole },
    { name: 'drops', when: rains, lines: 3, placeholder: () => t('op.rain.drops.example') },
    { name: 'line', options: yesNo, hint: true, wide: true },
    { name: 'opens_early', when: lines, ...decimal }, { name: 'admits', when: lines, ...whole, hint: true },
    { name: 'lanes', ...whole, hint: true, wide: true },
  ],
  // The sale's `gate`, and its `door`.
  gate: [
    { name: 'challenge', options: () => ['any', 'picture', 'work', 'none'].map((kind) => [kind, t(`op.challenge.${kind}`)]), wide: true },
    { name: 'work_bits', when: ({ challenge }) => challenge === 'any' || challenge === 'work', ...whole, hint: true, wide: true },
    { name: 'groups_see', when: units, ...plain, optional: true, hint: true }, { name: 'groups_buy', ...plain, optional: true, hint: true },
    { name: 'violations', ...whole }, { name: 'violation_window', ...decimal }, { name: 'blocked_for', ...decimal },
    { name: 'unpaid_limit', when: sold, ...whole }, { name: 'planned', ...whole, optional: true },
  ],
};
const ALL = Object.values(PARTS).flat();

export class Editor extends Screen {
  /** The sale being changed; null for a new one. */
  #sale;
  /** The sale that a new one copies. */
  #from;
  /** `round` or `to_come`, for a published sale. */
  #about = null;
  #form = null;
  #before = null;
  #errors = {};
  /** Fields that somebody else changed meanwhile, and those of them that were changed here too, with their value here. */
  #conflict = null;
  #restored = false;
  #key = null;
  #busy = false;
  #ownId = false;
  #fields = new Map();
  #preview = h('div', { class: 'product' });
  #ending;

  /** Edits `sale`, or a new one, optionally copied `from` another. */
  constructor(place, { sale = null, from = null }, signal) {
    super(place, signal);
    [this.#sale, this.#from] = [sale, from];
    if (sale?.state === 'published') this.#about = sale.recurrence ? 'to_come' : 'round';
    signal.addEventListener('abort', () => clearTimeout(this.#ending));
    this.#begin();
    this.build();
  }

  get #isDraft() {
    return this.#sale === null || this.#sale.state === 'draft';
  }

  /** Nothing can be changed any more. */
  get #isOver() {
    const sale = this.#sale;
    return sale !== null && (sale.state === 'withdrawn' || (sale.state === 'published' && !sale.recurrence && clock.now() >= Date.parse(sale.closes_at)));
  }

  /** The version of what is being changed. */
  get #version() {
    return this.#about === 'round' ? this.#sale?.round_version : this.#sale?.version;
  }

  get #stored() {
    const what = this.#sale ? `${this.#sale.sale_id} ${this.#about ?? ''}` : `new ${this.#from?.sale_id ?? ''}`;
    return `${STORED}${session.current?.user} ${what}`;
  }

  #formNow() {
    const sale = this.#sale;
    if (sale) return formOf(this.#about === 'to_come' ? { ...sale, ...sale.rounds_to_come } : sale);
    if (!this.#from) return blank(clock.now());
    const form = formOf(this.#from);
    const copy = { ...form, sale_id: `${form.sale_id.slice(0, 43)}-copy` };
    if (Date.parse(this.#from.opens_at) > clock.now()) return copy;
    // A copy of a past sale opens in an hour, and lasts as long.
    const { opens, closes } = blank(clock.now());
    const lasts = Date.parse(this.#from.closes_at) - Date.parse(this.#from.opens_at);
    return { ...copy, zone: ownZone(), opens, closes: lasts > 0 ? new Date(Date.parse(`${opens}Z`) + lasts).toISOString().slice(0, 16) : closes };
  }

  /** Starts with the sale's values, or with the input from before a reload. */
  #begin() {
    [this.#before, this.#conflict, this.#restored, this.#errors] = [this.#formNow(), null, false, {}];
    this.#form = { ...this.#before };
    this.#ownId = this.#sale !== null;
    const kept = stored(this.#stored, 'sessionStorage');
    if (!kept) return;
    this.#form = { ...this.#before, ...kept.form };
    this.#ownId = kept.ownId ?? this.#ownId;
    this.#restored = true;
    if (this.#sale && kept.version !== this.#version) this.#merge(kept.form, kept.before);
    else if (!this.#sale) this.#before = { ...this.#before, ...kept.before };
  }

  #merge(form, before) {
    const now = this.#formNow();
    const { values, both } = merged(form, before, now);
    [this.#form, this.#before, this.#key] = [values, now, null];
    this.#conflict = { theirs: Object.keys(now).filter((name) => now[name] !== before[name]), both };
  }

  #keep() {
    try {
      const changed = Object.keys(this.#form).some((name) => this.#form[name] !== this.#before[name]);
      if (changed) sessionStorage.setItem(this.#stored, JSON.stringify({ form: this.#form, before: this.#before, version: this.#version, ownId: this.#ownId }));
      else sessionStorage.removeItem(this.#stored);
    } catch {
      // At least the form still has it.
    }
  }

  #drop() {
    sessionStorage.removeItem(this.#stored);
  }

  #locked(name) {
    if (this.#isOver) return true;
    if (name === 'sale_id') return this.#sale !== null;
    if (this.#isDraft) return false;
    if (this.#about === 'to_come') return ['again', 'zone', 'lanes'].includes(name);
    if (name === 'opens') return clock.now() >= Date.parse(this.#sale.opens_at) - LOADED_MS;
    if (name === 'total') return this.#form.kind !== 'units';
    return OF_A_DRAFT.includes(name);
  }

  build() {
    const title = this.#sale ? null : h('h1', { tabindex: '-1' }, t(this.#from ? 'op.form.copy' : 'op.new'));
    this.#fields.clear();
    const part = (name) => h('fieldset', { class: 'box' }, h('legend', {}, t(`op.form.${name}`)),
      h('div', { class: 'editor-fields' }, PARTS[name].map((one) => this.#field(one))), name === 'time' ? h('p', { class: 'quiet time-note', role: 'status' }) : null);
    const lists = [['currencies', CURRENCIES], ['zones', zones()]].map(([id, values]) => h('datalist', { id }, values.map((value) => h('option', { value }))));
    const about = this.#sale?.recurrence && !this.#isDraft && !this.#isOver ? this.#choice() : null;
    const save = h('button', { type: 'submit', class: 'primary' }, t(this.#sale ? 'op.form.save' : 'op.create'));
    const over = this.#isOver ? h('p', { class: 'hint' }, t('op.form.over')) : null;
    const form = h('form', { class: 'editor-form', novalidate: true, onsubmit: (event) => this.#save(event), oninput: (event) => this.#typed(event), onchange: (event) => this.#typed(event) },
      part('product'), part('time'), part('rules'), part('gate'), lists,
      this.#isOver ? null : h('div', { class: 'editor-end' }, this.error, this.said,
        h('div', { class: 'actions' }, save, button(t('op.form.discard'), () => this.#discard(), { class: 'secondary' }))));
    this.place.replaceChildren(...[
      title, h('p', { class: 'lead' }, t(this.#sale ? this.#isDraft ? 'op.form.lead.draft' : 'op.form.lead.edit' : 'op.create.text')), over, about,
      h('div', { class: 'notes' }),
      h('div', { class: 'editor' }, form, h('aside', { class: 'preview', 'aria-label': t('op.preview') }, h('h2', {}, t('op.preview')), this.#preview)),
    ].filter(Boolean));
    this.fill();
    this.#lockAtEnd();
  }

  /** A sale may end while the page shows it, and the page's clock may be slightly slow. */
  #lockAtEnd() {
    clearTimeout(this.#ending);
    if (this.#isDraft || this.#isOver || this.#sale.recurrence) return;
    const left = Date.parse(this.#sale.closes_at) - clock.now();
    this.#ending = setTimeout(() => this.build(), Math.min(Math.max(left, 0) + 50, MAX_TIMER_MS));
  }

  /** For a recurring sale: what the change applies to. */
  #choice() {
    const options = [['round', t('op.form.about.round', { n: this.#sale.round })], ['to_come', t('op.form.about.to_come')]];
    const choose = (event) => {
      this.#keep();
      this.#about = event.target.value;
      this.#begin();
      this.build();
      this.place.querySelector('[name=about]').focus();
    };
    return h('p', { class: 'about' }, h('label', { for: 'about' }, t('op.form.about')),
      h('select', { id: 'about', name: 'about', onchange: choose }, options.map(([value, text]) => h('option', { value, selected: value === this.#about }, text))));
  }

  #field({ name, options, lines, when, hint, wide, words, optional, list, type = 'text', placeholder, ...more }) {
    const id = `form-${name}`;
    const described = `${id}-error${hint ? ` ${id}-hint` : ''}`;
    const common = { id, name, 'aria-describedby': described, disabled: this.#locked(name), ...more };
    const said = typeof placeholder === 'function' ? placeholder() : placeholder;
    const value = this.#form[name];
    const control = options
      ? h('select', common, options().map(([key, text]) => h('option', { value: key, selected: key === value }, text)))
      : lines ? h('textarea', { ...common, rows: lines, placeholder: said }, value)
        : h('input', { ...common, type, value, list, placeholder: said, autocomplete: 'off' });
    const label = h('label', { for: id });
    const error = h('p', { class: 'error', id: `${id}-error` });
    const row = h('div', { class: wide || lines ? 'field wide' : 'field' }, label, control,
      hint ? h('p', { class: 'quiet', id: `${id}-hint` }, t(`op.form.${name}.hint`)) : null, error);
    this.#fields.set(name, { row, control, label, error, when, words, optional });
    return row;
  }

  #typed({ target }) {
    const { name, value } = target;
    if (!(name in this.#form) || this.#form[name] === value) return;
    this.#form[name] = value;
    this.#key = null;
    this.say('');
    delete this.#errors[name];
    if (name === 'sale_id') this.#ownId = value !== '';
    if (name === 'title' && !this.#ownId) {
      this.#form.sale_id = idOf(value);
      this.#fields.get('sale_id').control.value = this.#form.sale_id;
      delete this.#errors.sale_id;
    }
    if (name === 'currency') this.#form.currency = value.toUpperCase();
    if (Object.keys(this.#errors).length === 0) this.error.textContent = '';
    this.#keep();
    this.fill();
  }

  /** Shows the parts that the form's current values need. */
  fill() {
    const form = this.#form;
    for (const [name, { row, control, label, error, when, words, optional }] of this.#fields) {
      const text = t(words?.(form) ?? `op.form.${name}`, { currency: form.currency });
      label.replaceChildren(text, ...(optional ? [h('small', { class: 'quiet' }, ` ${t('op.form.optional')}`)] : []));
      row.hidden = when ? !when(form) : false;
      const wrong = this.#errors[name];
      if (wrong) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
      if (error.textContent !== (wrong ?? '')) error.textContent = wrong ?? '';
    }
    const { terms } = read(form);
    this.#preview.replaceChildren(...preview(terms, clock.now()));
    const note = this.place.querySelector('.time-note');
    if (note) note.textContent = this.#timeNote(terms);
    this.place.querySelector('.notes').replaceChildren(...this.#notes(terms));
  }

  #timeNote({ opens_at: opens, closes_at: closes }) {
    if (!opens || !closes) return '';
    const left = Date.parse(opens) - clock.now();
    const lasts = (Date.parse(closes) - Date.parse(opens)) / 1000;
    const when = left > 0 ? t('op.form.time.in', { left: span(left / 1000) }) : this.#isDraft ? t('op.form.time.past') : '';
    const here = this.#form.zone === ownZone() ? '' : t('op.form.time.here', { at: moment(opens), zone: ownZone() });
    return [when, lasts > 0 ? t('op.form.time.lasts', { span: span(lasts) }) : '', here].filter(Boolean).join(' ');
  }

  #notes(terms) {
    const notes = [];
    if (this.#restored && !this.#conflict) notes.push(h('p', { class: 'yours' }, t('op.form.restored')));
    if (this.#conflict) notes.push(this.#conflictShown());
    if (terms.expected_audience && terms.total && Date.parse(terms.opens_at) > clock.now()) {
      notes.push(h('p', { class: 'quiet' }, t('op.form.plan'), ' ', h('code', {}, planCommand(terms))));
    }
    return notes;
  }

  #conflictShown() {
    const { theirs, both } = this.#conflict;
    const name = (one) => t(this.#fields.get(one)?.words?.(this.#form) ?? `op.form.${one}`, { currency: this.#form.currency });
    const take = (one) => button(t('op.form.take'), () => {
      this.#form[one] = this.#before[one];
      this.#conflict.both = both.filter((other) => other !== one);
      this.#keep();
      this.build();
    }, { class: 'link', 'aria-label': `${t('op.form.take')}: ${name(one)}` });
    const row = (one) => h('li', {}, h('strong', {}, name(one)), ' ', this.#before[one] || '–', both.includes(one) ? [' ', t('op.form.yours', { value: this.#form[one] || '–' }), ' ', take(one)] : null);
    return h('div', { class: 'hint', role: 'status' }, h('p', {}, t('op.form.changed')), h('ul', {}, theirs.filter((one) => this.#fields.has(one)).map(row)),
      h('p', {}, t('op.form.changed.next')));
  }

  #discard() {
    this.#drop();
    this.error.textContent = '';
    this.say('');
    this.#begin();
    this.build();
    this.#fields.get('title').control.focus();
  }

  #blame(errors, summary) {
    this.#errors = errors;
    this.error.textContent = summary;
    this.fill();
    const first = ALL.find(({ name }) => errors[name] && !this.#fields.get(name).row.hidden && !this.#fields.get(name).control.disabled);
    this.#fields.get(first?.name)?.control.focus();
  }

  async #save(event) {
    event.preventDefault();
    if (this.#busy) return;
    const { terms, errors } = read(this.#form);
    // Fields that a round cannot change are not errors of this form.
    const mine = Object.fromEntries(Object.entries(errors).filter(([name]) => !this.#locked(name)));
    if (this.#sale?.rain && !terms.rain && !this.#locked('rain')) mine.rain = 'op.wrong.rain';
    const count = Object.keys(mine).length;
    if (count > 0) {
      const words = Object.fromEntries(Object.entries(mine).map(([name, key]) => [name, t(key, { digits: digitsOf(this.#form.currency) })]));
      this.#blame(words, t('op.form.wrong', { n: number(count) }));
      return;
    }
    this.#busy = true;
    this.#errors = {};
    this.error.textContent = '';
    this.say(t('op.form.saving'));
    this.fill();
    try {
      if (this.#sale) await this.#edit();
      else await this.#create(terms);
    } catch (problem) {
      if (!this.signal.aborted) await this.#failed(problem);
    } finally {
      this.#busy = false;
    }
  }

  /** The form has one group. The sale's other groups stay. */
  #withGroups(terms, sale) {
    const [first] = terms.early_access;
    const others = (sale?.early_access ?? []).slice(1);
    return first ? { ...terms, early_access: [first, ...others] } : terms;
  }

  async #create(terms) {
    const sale = await api.create(created(this.#withGroups(terms, this.#from)));
    this.#drop();
    location.hash = `#/sales/${sale.sale_id}`;
  }

  async #edit() {
    const all = changes(this.#form, this.#before);
    const of = this.#about === 'round' ? OF_A_ROUND : Object.keys(all).filter((name) => this.#about !== 'to_come' || name !== 'recurrence');
    const changed = Object.fromEntries(Object.entries(all).filter(([name]) => of.includes(name)));
    if (Object.keys(changed).length === 0) {
      this.say(t('op.form.nothing'));
      return;
    }
    const seen = this.#about === 'round' ? { round: this.#sale.round, round_version: this.#sale.round_version } : { version: this.#sale.version };
    if (changed.early_access) Object.assign(changed, this.#withGroups(changed, this.#sale));
    this.#key ??= crypto.randomUUID();
    this.#sale = await api.edit(this.#sale.sale_id, { ...seen, ...changed }, this.#key);
    this.#drop();
    this.#key = null;
    this.#begin();
    this.build();
    this.say(t('op.form.saved'));
  }

  async #failed(problem) {
    this.say('');
    if (problem.code === 'sale_changed' || problem.code === 'round_changed') {
      this.#sale = await api.sale(this.#sale.sale_id, this.signal).catch(() => this.#sale);
      this.#merge(this.#form, this.#before);
      this.#keep();
      this.build();
      this.error.textContent = problemWords(problem).title;
      this.place.querySelector('.notes').scrollIntoView({ block: 'center' });
      return;
    }
    const fields = blamed(problem);
    const words = Object.fromEntries(Object.entries(fields).map(([name, detail]) => [name, detail ?? problemWords(problem).title]));
    const hidden = Object.keys(words).some((name) => this.#fields.get(name)?.row.hidden);
    this.#blame(words, Object.keys(words).length === 0 || hidden ? failure(problem) : t('op.form.refused'));
  }
}

/** Discards other users' input: another user has signed in. */
export function forgetForms() {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(STORED)) sessionStorage.removeItem(key);
}
