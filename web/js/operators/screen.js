// The common part of the operators' screens.

import { h } from '../dom.js';
import { language, t } from '../i18n.js';
import { fact, problemWords, trouble } from '../parts.js';

/** A screen in `place` until `signal` is aborted: `build` makes it in the current language, `fill` shows what is known by now. */
export class Screen {
  problem = null;
  /** Something is being loaded. */
  running = false;
  said = h('p', { class: 'said', role: 'status' });
  error = h('p', { class: 'error', role: 'alert' });
  results = h('div', { class: 'results' });

  constructor(place, signal) {
    [this.place, this.signal] = [place, signal];
    language.addEventListener('change', () => this.build(), { signal });
  }

  build() {
    this.fill();
  }

  say = (text) => {
    this.said.textContent = text;
  };

  /** Runs what loads, keeps its problem, and shows either. */
  async loading(run) {
    this.running = true;
    try {
      await run();
      this.problem = null;
    } catch (error) {
      if (this.signal.aborted) return;
      this.problem = error;
    } finally {
      this.running = false;
    }
    this.fill();
  }

  /** Shows a whole list, which the screen's `load` loads: `table` of it, or what else is to be said. */
  list(all, table, none) {
    this.results.replaceChildren(this.problem ? trouble(problemWords(this.problem), () => this.load())
      : all === null ? h('p', { class: 'quiet' }, t('loading')) : all.length ? table() : none);
  }
}

/** A part of a screen, with a heading. */
export const box = (name, ...children) => h('section', { class: 'box' }, h('h2', {}, t(name)), ...children);

export const figure = (name, value, note = null) => fact(name, [value, note ? h('small', {}, note) : null]);

export const percent = (part) => new Intl.NumberFormat(language.tag, { style: 'percent', maximumFractionDigits: 1 }).format(part);
