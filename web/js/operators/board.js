// One sale, live.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, number } from '../format.js';
import { language, t } from '../i18n.js';
import { badge, button, nothing, problemWords } from '../parts.js';
import { refreshing } from '../timing.js';
import { api } from './api.js';
import { Plot } from './plot.js';
import { asking, steering } from './steering.js';

const REFRESH_MS = 2_000;
/** The audit reads every unit of the round. */
const AUDIT_EVERY = 5;
const PLACES = ['total', 'free', 'held', 'ordered', 'paid'];

export class Board {
  #id;
  #place;
  #signal;
  #changed;
  #readings = [];
  #sale = null;
  #live = null;
  #audit = null;
  #before = null;
  #turn = 0;
  #problem = null;
  #heardAt = 0;
  #parts = null;
  #saying = '';
  #redraw = new AbortController();

  constructor(place, id, changed, signal) {
    this.#id = id;
    this.#place = place;
    this.#signal = signal;
    this.#changed = changed;
    language.addEventListener('change', () => this.#build(), { signal });
    signal.addEventListener('abort', () => this.#redraw.abort(), { once: true });
    refreshing(() => this.#load(), () => REFRESH_MS, signal);
  }

  async #load() {
    try {
      const sale = await api.sale(this.#id, this.#signal);
      const published = sale.state === 'published';
      const asksAudit = published && this.#turn % AUDIT_EVERY === 0;
      const [live, audit] = await Promise.all([
        published ? this.#look() : null,
        asksAudit ? api.audit(this.#id, sale.round, this.#signal).catch(() => this.#audit) : this.#audit,
      ]);
      this.#turn += 1;
      const units = live?.units ?? (audit ? { ...audit, paid: null } : null);
      this.#before = this.#live;
      [this.#sale, this.#audit, this.#live] = [sale, audit, { ...live, units, at: clock.now() }];
      if (units) Plot.keep(this.#readings, clock.now(), units);
      this.#heardAt = clock.now();
      this.#problem = null;
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#problem = error;
    }
    if (this.#parts) this.#fill();
    else this.#build();
  }

  /** What only a newer system tells; without it the audit has the units. */
  #look() {
    return api.live(this.#id, this.#signal).catch((error) => {
      if (error.code === 'unknown_route') return null;
      throw error;
    });
  }

  #build() {
    if (!this.#sale) {
      if (this.#problem) this.#place.replaceChildren(...nothing(problemWords(this.#problem)));
      return;
    }
    this.#redraw.abort();
    this.#redraw = new AbortController();
    const box = (name, ...children) => h('section', { class: 'box' }, h('h2', {}, t(name)), ...children);
    const part = (tag, attributes = {}) => h(tag, attributes);
    const parts = {
      badges: part('span'), when: part('p', { class: 'quiet' }), stale: part('p', { class: 'stale', role: 'status' }),
      tiles: part('dl', { class: 'tiles' }), verdict: part('div'), answers: part('div', { class: 'scroll' }),
      queues: part('div', { class: 'scroll' }), steer: part('div'), said: part('p', { class: 'said', role: 'status' }, ''),
    };
    parts.said.textContent = this.#saying;
    const plot = h('div', { class: 'plot', role: 'img', 'aria-label': t('op.plot') });
    this.#place.replaceChildren(
      h('div', { class: 'board-head' }, h('h1', { tabindex: '-1' }, this.#sale.title), parts.badges, parts.when, parts.stale),
      box('op.steer', parts.steer, parts.said), parts.tiles, box('op.units', plot), box('op.audit', parts.verdict),
      h('div', { class: 'pair' }, box('op.answers', parts.answers), box('op.queues', parts.queues)));
    this.#parts = { ...parts, plot: new Plot(plot, this.#readings, this.#redraw.signal) };
    this.#fill();
  }

  #fill() {
    const { badges, when, stale, tiles, verdict, answers, queues, steer, plot } = this.#parts;
    const sale = this.#sale;
    const live = this.#live;
    const now = clock.now();
    const over = now >= Date.parse(sale.closes_at);
    const state = sale.state === 'draft' ? 'draft' : live.state ?? (over ? 'closed' : sale.paused ? 'paused' : 'open');
    badges.replaceChildren(badge(state, state === 'draft' ? t('op.draft') : t(`state.${state}`)), ' ',
      live.stopped ? badge('paused', t('op.stopped')) : '');
    when.textContent = `${t('op.round', { n: sale.round })} · ${moment(sale.opens_at)} – ${moment(sale.closes_at)}`;
    stale.textContent = this.#problem ? t('op.stale', { at: new Date(this.#heardAt).toLocaleTimeString(language.tag) }) : '';
    tiles.replaceChildren(...PLACES.map((place) => h('div', { class: `tile ${place}` },
      h('dt', {}, t(`op.units.${place}`)), h('dd', {}, shown(live.units?.[place])))));
    verdict.replaceChildren(...this.#verdict());
    answers.replaceChildren(this.#answers());
    queues.replaceChildren(this.#queues());
    const view = { sale, running: sale.state === 'published' && !over, stopped: live.stopped === true };
    const buttons = `${sale.state} ${sale.paused} ${over} ${live.stopped} ${language.tag}`;
    if (steer.dataset.as !== buttons) {
      steer.dataset.as = buttons;
      const kept = steer.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
      steer.replaceChildren(steering(view, (question, run) => this.#ask(question, run)));
      const other = { pause: 'resume', resume: 'pause', stop: 'start', start: 'stop' };
      if (kept) (steer.querySelector(`[data-keep="${kept}"]`) ?? steer.querySelector(`[data-keep="${other[kept]}"]`))?.focus();
    }
    plot.draw();
  }

  async #ask(question, run) {
    const say = (text) => {
      this.#saying = text;
      this.#parts.said.textContent = text;
    };
    if (await asking(question, run, say, problemWords)) {
      await this.#load();
      this.#changed();
    }
  }

  #verdict() {
    const audit = this.#audit;
    if (!audit) return [h('p', { class: 'verdict' }, t('op.audit.none'))];
    const kind = !audit.clean ? 'found' : audit.in_redis ? 'clean' : 'not_loaded';
    const list = audit.discrepancies.slice(0, 20).map(({ unit, wrong, found }) => (
      h('li', {}, t('op.audit.unit', { unit, wrong, found: found.join('; ') }))));
    return [h('p', { class: `verdict ${kind}` }, t(`op.audit.${kind}`, audit)), list.length ? h('ul', {}, list) : null].filter(Boolean);
  }

  #answers() {
    const { answers, at } = this.#live;
    if (!answers) return h('p', { class: 'quiet' }, t('op.answers.none'));
    const seconds = this.#before?.answers ? (at - this.#before.at) / 1000 : 0;
    const rate = (code) => (seconds > 0 ? Math.max(0, (answers[code] - (this.#before.answers[code] ?? 0)) / seconds).toFixed(1) : '–');
    const rows = Object.keys(answers).sort((a, b) => answers[b] - answers[a]);
    return table(['op.answers.code', 'op.answers.rate', 'op.answers.all'], rows.map((code) => [code, rate(code), number(answers[code])]));
  }

  #queues() {
    const { queues } = this.#live;
    if (!queues) return h('p', { class: 'quiet' }, t('op.queue.none'));
    return table(['op.queue', 'op.queue.waiting', 'op.queue.in_flight', 'op.queue.dead'], queues.map((queue) => [
      queue.queue, shown(queue.waiting), shown(queue.in_flight),
      queue.dead ? [shown(queue.dead), ' ', this.#redrive(queue.queue)] : shown(queue.dead),
    ]));
  }

  #redrive(queue) {
    return button(t('op.redrive'), () => this.#ask(
      { title: t('op.redrive'), text: t('op.redrive.text', { queue }), go: t('op.redrive') }, () => api.redrive(queue)), { class: 'secondary' });
  }
}

const shown = (value) => (value === null || value === undefined ? '–' : number(value));

function table(heads, rows) {
  const cell = (value, at) => h('td', { class: at ? 'n' : null }, value);
  return h('table', {},
    h('thead', {}, h('tr', {}, heads.map((name, at) => h('th', { scope: 'col', class: at ? 'n' : null }, t(name))))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map(cell)))));
}
