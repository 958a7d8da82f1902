// Checks the draw of a round in the browser, from its public document alone.

import { stake } from '../awards.js';
import { anyCard } from '../catalog.js';
import { clock } from '../clock.js';
import { Shuffle, planOf, shuffleKey } from '../draw.js';
import { h } from '../dom.js';
import { moment, money, number } from '../format.js';
import { get } from '../http.js';
import { t } from '../i18n.js';
import { actions, button, nothing, panel, problemWords, skeleton, spinner } from '../parts.js';
import { jittered, refreshing } from '../timing.js';
import { inWorker } from '../worker.js';
import { View } from './view.js';

const REFRESH_MS = 10_000;
/** How long after the expected moment the page checks. */
const SOON_MS = 2_000;
/** Number of winners in the list; any ticket can be looked up. */
const MOST_WINNERS = 200;
/** The version of draws that this page can compute. */
const ENCODING = 1;

/** The entries of a draw at the end, once they have closed: `{units, leaves}`; null for any other draw. */
async function entriesOf({ sale_id: sale, round, at_end: atEnd }, signal) {
  if (!atEnd) return null;
  const { entries, entries_per_chunk: size } = atEnd.closed;
  const all = { units: [], leaves: [] };
  for (let chunk = 0; chunk * size < entries; chunk += 1) {
    const { units, leaves } = await get(`/v1/sales/${sale}/rounds/${round}/draw/entries/${chunk}`, { signal });
    all.units.push(...units);
    all.leaves.push(...leaves);
  }
  return all;
}

export class VerifyView extends View {
  #sale;
  #round;
  #unit;
  #name;
  #draw = null;
  #problem = null;
  /** `{commitment, sum, values, winners, signed, root}`. */
  #computed = null;
  #entries = null;
  #failed = false;
  #place = h('section', { class: 'panel', 'aria-live': 'polite' });
  #shown = null;

  /** `id` is `SALE.ROUND`, or `SALE.ROUND.UNIT`. */
  constructor(main, id) {
    super(main);
    const [sale, round, unit] = id.split('.');
    [this.#sale, this.#round, this.#unit, this.#name] = [sale, Number(round), unit ?? '', sale];
    anyCard(sale, this.signal).then((card) => {
      if (this.signal.aborted) return;
      this.#name = card?.title ?? sale;
      this.render();
    });
    refreshing(() => this.#load(), () => this.#interval(), this.signal);
    this.render();
  }

  get title() {
    return t('verify.title');
  }

  /** Whether everything that determines the awards is published, and nothing changes any more. */
  get #complete() {
    return Boolean(this.#draw?.seed) && !this.#awaitsBeacon;
  }

  get #awaitsBeacon() {
    return this.#draw.label === 'beacon' && !this.#draw.beacon;
  }

  async #load() {
    if (this.#complete) return;
    try {
      this.#draw = await get(`/v1/sales/${this.#sale}/rounds/${this.#round}/draw`, { signal: this.signal });
      this.#problem = null;
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error;
    }
    if (this.#complete && this.#known) this.#compute();
    const now = JSON.stringify([this.#draw, this.#draw ? null : this.#problem?.code]);
    if (now !== this.#shown) this.render();
    this.#shown = now;
  }

  get #known() {
    const { encoding, label, allocation, at_end: atEnd } = this.#draw;
    // Without its entries, a draw at the end would be checked as if it had none.
    return encoding === ENCODING && label === (allocation.beacon ? 'beacon' : 'commitment_only') && Boolean(atEnd) === (allocation.draw === 'at_end');
  }

  async #compute() {
    const draw = this.#draw;
    try {
      this.#entries = await entriesOf(draw, this.signal);
      const worker = new Worker(new URL('../draw-worker.js', import.meta.url), { type: 'module' });
      const task = { draw, plan: planOf(draw), most: MOST_WINNERS, entries: this.#entries && this.#entries.leaves };
      this.#computed = await inWorker(worker, task, this.signal, (found) => found);
    } catch {
      this.#failed = true;
    }
    if (!this.signal.aborted) this.render();
  }

  #interval() {
    const left = this.#draw ? Date.parse(this.#draw.reveals_at) - clock.now() : 0;
    return left > 0 ? Math.min(left + jittered(SOON_MS), REFRESH_MS) : jittered(SOON_MS);
  }

  render() {
    if (!this.#draw && this.#problem && ['unknown_sale', 'invalid_request'].includes(this.#problem.code)) {
      document.title = `${this.title} · ${t('brand')}`;
      this.main.replaceChildren(...nothing({ title: t('verify.none.title'), text: t('verify.none.text') }));
      return;
    }
    this.put(this.#place, this.#stage(), { quiet: true });
    this.putAll((heading) => [h('div', { class: 'verifying' },
      h('a', { class: 'back', href: `#/sales/${this.#sale}` }, t('to.sale')), heading,
      h('p', { class: 'lead' }, t('verify.lead')), this.#place, ...(this.#draw ? this.#public() : []))]);
  }

  #stage() {
    const draw = this.#draw;
    if (!draw) {
      if (!this.#problem) return skeleton('row');
      const { title, text } = problemWords(this.#problem);
      return panel('problem', title, h('p', {}, text), actions(button(t('retry'), () => this.#load(), { class: 'secondary' })));
    }
    const title = `${this.#name} · ${t('verify.round', { n: this.#round })}`;
    if (!draw.seed) {
      return panel('waiting', t('verify.early.title'), h('p', {}, title),
        h('p', {}, t(draw.at_end ? 'verify.at_end.early' : 'verify.early.text', { at: moment(draw.reveals_at) })));
    }
    if (this.#known && this.#awaitsBeacon) {
      return panel('waiting', t('verify.beacon.early.title'), h('p', {}, title),
        h('p', {}, draw.drand ? t('verify.beacon.early.text', { round: draw.drand.round, at: moment(draw.drand.at) }) : t('verify.beacon.none')));
    }
    if (!this.#known) return panel('problem', t('verify.other.title'), h('p', {}, t('verify.other.text')));
    if (this.#failed) return panel('problem', t('verify.failed.title'), h('p', {}, t('verify.failed.text')));
    return this.#computed ? this.#verdict(title) : panel('waiting', t('verify.busy'), spinner(), h('p', {}, title));
  }

  #verdict(title) {
    const { commitment, allocation, currency } = this.#draw;
    const { values, sum } = this.#computed;
    const holds = this.#computed.commitment === commitment;
    const line = (ok, text) => h('li', { class: ok ? 'holds' : 'broken' }, text);
    const found = [line(holds, t(holds ? 'verify.holds' : 'verify.broken'))];
    const { signed } = this.#computed;
    if (signed !== null) {
      const { round, at } = this.#draw.drand;
      found.push(line(signed, signed ? t('verify.beacon.holds', { round, at: moment(at) }) : t('verify.beacon.broken', { round })));
    }
    const atEnd = holds && this.#draw.at_end ? this.#atEnd() : null;
    if (atEnd) found.push(...atEnd.map(([ok, text]) => line(ok, text)));
    const good = holds && signed !== false && (atEnd ?? []).every(([ok]) => ok);
    // If the check fails, nothing else is shown.
    if (holds && allocation.kind === 'split') {
      const exact = sum === allocation.total_minor;
      found.push(line(exact, t('verify.sum', { n: number(values.length), sum: money(sum, currency) })));
    }
    return panel(good ? 'verdict-good' : 'verdict-bad', t(good ? 'verify.good.title' : 'verify.bad.title'),
      h('p', {}, title), h('ul', { class: 'checks' }, found), good ? this.#lookup() : null, good ? this.#winners() : null);
  }

  /** For a draw at the end: checks that the entries have the published root, and that the published winners win. `[ok, text]` for each. */
  #atEnd() {
    const { closed } = this.#draw.at_end;
    const { units, leaves } = this.#entries;
    const { root, winners } = this.#computed;
    const inOrder = units.every((unit, at) => at === 0 || unit > units[at - 1]);
    const holds = root === closed.root && leaves.length === closed.entries && units.length === closed.entries && inOrder;
    const same = closed.winners.slice(0, MOST_WINNERS);
    const won = same.length === winners.length && same.every(({ prize, entry }, at) => prize === winners[at].prize && entry === winners[at].unit);
    return [
      [holds, holds ? t('verify.root', { n: number(closed.entries) }) : t('verify.root.broken')],
      [won, t(won ? 'verify.winners.hold' : 'verify.winners.broken')],
    ];
  }

  /** The position of a ticket's award in the result: its own number, or that of its entry in a draw at the end; 0 if it has none. */
  #placeOf(unit) {
    return this.#entries ? this.#entries.units.indexOf(unit) + 1 : unit;
  }

  /** The form that asks for one part or ticket. */
  #lookup() {
    const { allocation, units } = this.#draw;
    const said = h('p', { class: 'won', role: 'status' });
    const input = h('input', {
      id: 'unit', name: 'unit', type: 'number', min: 1, max: units, step: 1, value: this.#unit, required: true, inputmode: 'numeric', 'data-keep': 'unit',
    });
    const show = (event) => {
      event?.preventDefault();
      const unit = Number(input.value);
      this.#unit = input.value;
      said.textContent = Number.isInteger(unit) && unit >= 1 && unit <= units
        ? this.#said(unit)
        : t('verify.unit.none', { n: number(units) });
    };
    if (this.#unit !== '') show();
    return h('form', { class: 'lookup', onsubmit: show, novalidate: true },
      h('label', { for: 'unit' }, t(`verify.${allocation.kind}.unit`)),
      h('div', { class: 'row' }, input, h('button', { class: 'secondary', type: 'submit' }, t('verify.go'))), said);
  }

  #said(unit) {
    const { kind } = this.#draw.allocation;
    if (this.#placeOf(unit) === 0) return t('verify.not_entered', { unit: number(unit) });
    return t(`verify.${kind}.won`, { unit: number(unit), award: this.#words(this.#placeOf(unit)) });
  }

  #words(unit) {
    const { allocation, currency, seed, beacon } = this.#draw;
    const { values } = this.#computed;
    const value = values[new Shuffle(values.length, shuffleKey(seed, beacon?.randomness ?? null)).shuffled(unit - 1)];
    if (allocation.kind === 'split') return money(value, currency);
    return value === 0 ? t('award.blank') : allocation.prizes[value - 1].name;
  }

  #winners() {
    const { allocation } = this.#draw;
    if (allocation.kind !== 'prizes') return null;
    const prizes = allocation.prizes.reduce((sum, { count }) => sum + count, 0);
    const all = this.#entries ? Math.min(prizes, this.#entries.units.length) : prizes;
    const winners = this.#computed.winners.toSorted((one, other) => one.prize - other.prize || one.unit - other.unit);
    const rows = winners.map(({ prize, unit }) => h('li', {},
      h('span', {}, allocation.prizes[prize - 1].name), h('span', { class: 'n' }, t('verify.ticket', { unit: number(this.#entries ? this.#entries.units[unit - 1] : unit) }))));
    return h('section', { class: 'winners' }, h('h3', {}, t('verify.winners', { n: number(all) })),
      h('ul', {}, rows),
      all > winners.length ? h('p', { class: 'quiet' }, t('verify.winners.more', { n: number(MOST_WINNERS) })) : null);
  }

  /** The public data, so that anyone can check it elsewhere. */
  #public() {
    const { commitment, seed, allocation, closes_at: closes, drand, beacon, label, at_end: { closed } = {} } = this.#draw;
    const row = (name, value, code = false, values = {}) => h('div', {}, h('dt', {}, t(name, values)), h('dd', {}, code ? h('code', {}, value) : value));
    return [h('dl', { class: 'public' },
      row('verify.stake', stake(this.#draw)),
      allocation.kind === 'prizes' ? row('verify.prizes', allocation.prizes.map(({ name, count }) => `${number(count)} × ${name}`).join(', ')) : null,
      row('sale.closes', moment(closes)),
      row('verify.commitment', commitment, true),
      closed ? row('verify.entries', closed.root, true, { n: number(closed.entries) }) : null,
      seed ? row('verify.seed', seed, true) : null,
      drand ? row('verify.drand', t('verify.drand.round', { round: drand.round, at: moment(drand.at) })) : null,
      beacon ? row('verify.beacon.signature', beacon.signature, true) : null),
    h('p', { class: 'quiet' }, t(label === 'beacon' ? 'verify.label.beacon' : 'verify.label')),
    h('p', { class: 'quiet' }, t('verify.how'))];
  }
}
