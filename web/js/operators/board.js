// The live view of one sale.

import { isDrawnAtEnd, isFree, kindOf, odds, stake, verifyLink } from '../awards.js';
import { clock } from '../clock.js';
import { h, replace } from '../dom.js';
import { moment, number } from '../format.js';
import { language, t } from '../i18n.js';
import { button } from '../parts.js';
import { refreshing } from '../timing.js';
import { api } from './api.js';
import { asking } from './dialog.js';
import { lineShown } from './line.js';
import { shown } from './listing.js';
import { verdictOf } from './log.js';
import { Plot } from './plot.js';
import { rainShown } from './rain.js';
import { saleActions } from './actions.js';
import { Screen, box } from './screen.js';
import { killSwitches } from './kill-switches.js';

const REFRESH_MS = 1_000;
/** The audit reads every unit of the round. */
const AUDIT_EVERY = 10;
/** In rounds of this many units, the audit is expensive. */
const MANY_UNITS = 10_000;
const AUDIT_MANY_EVERY = 60;
/** Processes report their answers once a second: over a shorter time, rates would jump. */
const RATE_OVER_MS = 3_000;
const PLACES = ['total', 'free', 'to_drop', 'held', 'ordered', 'paid'];

export class Board extends Screen {
  #id;
  #seen;
  #gone;
  #deleted = false;
  #readings = [];
  #sale = null;
  #live = null;
  #audit = null;
  /** The public data of a draw at the end, once its round is over. */
  #atEnd = null;
  /** The public document of the sale's line. */
  #line = null;
  #counted = [];
  #turn = 0;
  #heardAt = 0;
  #parts = null;
  #redraw = new AbortController();

  /** Calls `seen` with `(sale, live, problem, heardAt)` after each answer, and `gone` when the sale no longer exists. */
  constructor(place, sale, { seen, gone }, signal) {
    super(place, signal);
    [this.#id, this.#seen, this.#gone] = [sale.sale_id, seen, gone];
    killSwitches.addEventListener('change', () => this.#parts && this.fill(), { signal });
    signal.addEventListener('abort', () => this.#redraw.abort(), { once: true });
    refreshing(() => this.#load(), () => REFRESH_MS, signal);
  }

  async #load() {
    if (this.#deleted) return;
    const { signal } = this;
    await this.loading(async () => {
      const sale = await api.sale(this.#id, signal);
      const published = sale.state === 'published';
      const asksAudit = published && this.#turn % (sale.total > MANY_UNITS ? AUDIT_MANY_EVERY : AUDIT_EVERY) === 0;
      const over = clock.now() >= Date.parse(sale.closes_at);
      const asksDraw = published && over && isDrawnAtEnd(sale) && this.#atEnd?.state !== 'drawn';
      const [live, audit, draw, line] = await Promise.all([
        published ? api.live(this.#id, signal) : null,
        asksAudit ? api.audit(this.#id, sale.round, signal).catch(() => this.#audit) : this.#audit,
        asksDraw ? api.draw(this.#id, sale.round, signal).catch(() => null) : null,
        // It may fail while everything else is known.
        published && sale.line ? api.line(this.#id, signal).catch(() => this.#line) : null,
      ]);
      if (this.#sale?.round !== sale.round) this.#atEnd = null;
      this.#atEnd = draw?.at_end ?? this.#atEnd;
      this.#line = line?.round === sale.round ? line : null;
      this.#turn += 1;
      // Without live figures, the audit has the units.
      const units = apart(this.#latest(live) ?? (audit?.in_redis ? { ...audit, paid: null } : null));
      [this.#sale, this.#audit, this.#live] = [sale, audit, { ...live, units, at: clock.now() }];
      this.#count(live);
      if (units) Plot.keep(this.#readings, clock.now(), units);
      this.#heardAt = clock.now();
    });
  }

  /** Each process of the function reads the ledger separately: of two answers, the later state holds. */
  #latest(live) {
    const [units, last] = [live?.units, this.#live?.units];
    const isOlder = live?.round === this.#live?.round && Date.parse(units?.as_of) < Date.parse(last?.as_of);
    if (!isOlder) return units;
    const { ordered, paid, as_of: asOf } = last;
    return { ...units, ordered, paid, held: Math.max(units.total - units.free - ordered - paid, 0), as_of: asOf };
  }

  /** Keeps the input of rates: the answers of the last seconds, for one round. */
  #count(live) {
    if (!live?.answers) return;
    const at = Date.parse(live.server_time);
    if (this.#counted.at(-1)?.round !== live.round) this.#counted = [];
    this.#counted.push({ at, round: live.round, answers: live.answers });
    while (this.#counted.length > 2 && at - this.#counted[1].at >= RATE_OVER_MS) this.#counted.shift();
  }

  build() {
    if (!this.#sale) {
      this.#seen(null, null, this.problem, 0);
      return;
    }
    this.#redraw.abort();
    this.#redraw = new AbortController();
    // Whatever needs scrolling on a phone must be reachable by keyboard.
    const wide = (name) => h('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': t(name) });
    const later = () => h('section', { class: 'box', hidden: true });
    const parts = {
      tiles: h('dl', { class: 'tiles' }), verdict: h('div'), answers: wide('op.answers'), queues: wide('op.queues'), updates: h('div'),
      drawn: later(), rain: later(), line: later(), still: h('p', { class: 'hint', hidden: true }),
    };
    const actions = box('op.actions', parts.still, parts.updates, this.said);
    // A draft has no units and no answers yet.
    if (this.#sale.state === 'draft') {
      this.place.replaceChildren(h('p', { class: 'lead' }, t('op.draft.lead')), actions, parts.drawn, parts.rain);
      this.#parts = { ...parts, plot: null, state: 'draft' };
    } else {
      const plot = h('div', { class: 'plot', role: 'img', 'aria-label': t('op.plot') });
      this.place.replaceChildren(actions, parts.tiles, parts.line, parts.drawn, parts.rain, box('op.units', plot), box('op.tab.audit', parts.verdict),
        h('div', { class: 'pair' }, box('op.answers', parts.answers), box('op.queues', parts.queues)));
      this.#parts = { ...parts, plot: new Plot(plot, this.#readings, this.#names, this.#redraw.signal), state: this.#sale.state };
    }
    this.fill();
  }

  fill() {
    // Nothing is built before the first answer.
    if (!this.#parts) {
      this.build();
      return;
    }
    const { tiles, verdict, answers, queues, updates, drawn, rain, line, plot, still, state } = this.#parts;
    const sale = this.#sale;
    if ((state === 'draft') !== (sale.state === 'draft')) {
      this.build();
      return;
    }
    const live = this.#live;
    const over = clock.now() >= Date.parse(sale.closes_at);
    this.#seen(sale, live, this.problem, this.#heardAt);
    tiles.replaceChildren(...Object.entries(this.#names).map(([place, name]) => h('div', { class: `tile ${place}` },
      h('dt', {}, name), h('dd', {}, shown(live.units?.[place])))));
    this.#showDrawn(drawn);
    rain.hidden = !sale.rain;
    if (sale.rain) rain.replaceChildren(h('h2', {}, t('op.rain.title')), ...rainShown(sale, live.units));
    line.hidden = !sale.line || sale.state === 'draft';
    if (!line.hidden) line.replaceChildren(h('h2', {}, t('op.line')), ...lineShown(sale, this.#line));
    verdict.replaceChildren(verdictOf(this.#audit));
    answers.replaceChildren(this.#answers());
    queues.replaceChildren(this.#queues());
    const stopped = live.stopped === true || killSwitches.has(sale.sale_id);
    const alone = killSwitches.itself(sale.sale_id) || (stopped && !killSwitches.all);
    still.hidden = sale.state !== 'published' || over || !killSwitches.all;
    still.textContent = still.hidden ? '' : t(alone ? 'op.stopped.both' : 'op.stopped.all');
    const view = { sale, running: sale.state === 'published' && !over, stopped, alone, awaits: live.awaits_beacon };
    const upcoming = clock.now() < Date.parse(sale.opens_at);
    const buttons = `${sale.state} ${sale.round} ${sale.version} ${sale.round_version} ${sale.paused} ${Boolean(sale.recurrence)} ${over} ${upcoming} ${stopped} ${alone} ${language.tag} ${JSON.stringify(sale.rain)} ${JSON.stringify(sale.line)} ${live.awaits_beacon?.round}`;
    if (updates.dataset.as !== buttons) {
      updates.dataset.as = buttons;
      replace(updates, saleActions(view, (question, run) => this.#ask(question, run)));
    }
    plot?.draw();
  }

  /** The places of units, in words. In a free sale nothing is paid for: ordered units are granted. */
  get #names() {
    const free = isFree(this.#sale);
    const name = (place) => t(free && place === 'ordered' ? 'op.state.granted' : `op.units.${place}`);
    const left = [...(free ? ['paid'] : []), ...(this.#sale.rain ? [] : ['to_drop'])];
    return Object.fromEntries(PLACES.filter((place) => !left.includes(place)).map((place) => [place, name(place)]));
  }

  /** What is drawn, in a sale with awards. A draft may still change, so there is nothing to check yet. */
  #showDrawn(place) {
    const sale = this.#sale;
    const awaits = this.#live?.awaits_beacon;
    const is = `${sale.state} ${sale.round} ${this.#atEnd?.state} ${awaits?.round}`;
    if (kindOf(sale) === 'units' || place.dataset.is === is) return;
    place.dataset.is = is;
    place.hidden = false;
    const terms = { units: sale.total, allocation: sale.allocation, currency: sale.currency };
    const check = verifyLink(sale.sale_id, sale.round);
    check.setAttribute('href', `/${check.getAttribute('href')}`);
    place.replaceChildren(...[
      h('h2', {}, t('op.draw')), h('p', { class: 'stake' }, stake(terms)), odds(terms), this.#drawState(),
      sale.state === 'draft' ? null : h('p', {}, check),
    ].filter(Boolean));
  }

  /** The progress of a draw at the end. */
  #drawState() {
    const awaits = this.#live?.awaits_beacon;
    if (awaits && !isDrawnAtEnd(this.#sale)) {
      return h('p', { class: 'draw-state' }, t('op.draw.unopened', { round: awaits.round, at: moment(awaits.at) }));
    }
    if (!isDrawnAtEnd(this.#sale) || this.#sale.state === 'draft') return null;
    const { state = 'open', closed } = this.#atEnd ?? {};
    return h('p', { class: 'draw-state' }, t(`op.draw.${state}`, { n: number(closed?.entries ?? 0) }));
  }

  async #ask(question, run) {
    const answer = await asking(question, run, this.say);
    if (answer?.gone) {
      this.#deleted = true;
      this.#gone();
    } else if (answer !== null) {
      // Stopping or starting one sale also changes the overall state.
      if (Array.isArray(answer.stopped_sales)) killSwitches.set(answer);
      else await killSwitches.load(this.signal);
      await this.#load();
    }
  }

  #answers() {
    const { answers } = this.#live;
    if (!answers) return h('p', { class: 'quiet' }, t('op.unknown'));
    const [first, last] = [this.#counted[0], this.#counted.at(-1)];
    const seconds = (last.at - first.at) / 1000;
    const since = (code) => Math.max(0, answers[code] - (first.answers[code] ?? 0)) / seconds;
    const rate = (code) => (seconds > 0 ? number(Math.round(since(code))) : '–');
    const rows = Object.keys(answers).sort((a, b) => answers[b] - answers[a]);
    if (!rows.length) return h('p', { class: 'quiet' }, t('op.answers.nobody'));
    return table(['op.answers.code', 'op.answers.rate', 'op.answers.all'], rows.map((code) => [
      language.has(`op.answer.${code}`) ? t(`op.answer.${code}`) : code, rate(code), number(answers[code]),
    ]));
  }

  #queues() {
    const { queues } = this.#live;
    if (!queues) return h('p', { class: 'quiet' }, t('op.unknown'));
    const age = (seconds) => (Number.isInteger(seconds) ? t('op.queue.age', { n: number(seconds) }) : '–');
    const heads = ['op.queue', 'op.queue.dead', 'op.queue.waiting', 'op.queue.oldest', 'op.queue.in_flight', 'op.queue.delayed'];
    return table(heads, queues.map((queue) => [
      t(`op.queue.${queue.queue}`), queue.dead ? [shown(queue.dead), ' ', this.#redrive(queue.queue)] : shown(queue.dead),
      shown(queue.waiting), age(queue.oldest_s), shown(queue.in_flight), shown(queue.delayed),
    ]));
  }

  #redrive(queue) {
    return button(t('op.redrive'), () => this.#ask(
      { title: t('op.redrive'), text: t('op.redrive.text', { queue }), go: t('op.redrive') }, () => api.redrive(queue)), { class: 'secondary' });
  }
}

/** Units of future drops are free in the system's count, but buyers cannot have them yet. */
const apart = (units) => (units?.to_drop ? { ...units, free: units.free - units.to_drop } : units);

function table(heads, rows) {
  const cell = (value, at) => h('td', { class: at ? 'n' : null }, value);
  return h('table', {},
    h('thead', {}, h('tr', {}, heads.map((name, at) => h('th', { scope: 'col', class: at ? 'n' : null }, t(name))))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map(cell)))));
}
