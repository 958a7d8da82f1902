// The common part of all screens.

import { announce, h, replace } from '../dom.js';
import { language, t } from '../i18n.js';
import { everySecond } from '../timing.js';

/** A screen in `main`, from `show` until `leave`. */
export class View {
  #ended = new AbortController();
  #stage = new AbortController();

  constructor(main) {
    this.main = main;
    language.addEventListener('change', () => this.render(), { signal: this.signal });
  }

  /** Aborted when the screen is left. */
  get signal() {
    return this.#ended.signal;
  }

  /** Renders everything again from the current data. */
  render() {}

  leave() {
    this.#ended.abort();
  }

  /** Shows the whole screen under its title: what `content` makes around its heading. */
  putAll(content) {
    document.title = `${this.title} · ${t('brand')}`;
    replace(this.main, ...content(h('h1', { tabindex: '-1', 'data-keep': 'heading' }, this.title)));
  }

  /**
   * Shows a stage in `place`: an element, or `{element, left, tick}`, whose `tick` is called every second until the next stage. If the
   * focus was inside the replaced part, it moves to the button with the same `data-keep`, to the element that asks for it, or to the
   * heading. Otherwise the focus stays, and the heading is announced.
   */
  put(place, stage, { quiet = false } = {}) {
    const { element = stage, left, tick } = stage;
    this.#stage.abort();
    this.#stage = new AbortController();
    const active = document.activeElement;
    const mine = active !== place && place.contains(active);
    const keep = mine && active.dataset.keep;
    place.replaceChildren(element);
    const heading = element.querySelector('h2');
    if (mine) {
      const kept = keep ? element.querySelector(`[data-keep="${keep}"]`) : null;
      (kept ?? element.querySelector('[data-first]') ?? heading)?.focus();
    } else if (!quiet && heading?.textContent) {
      announce(heading.textContent);
    }
    if (tick) everySecond(left, tick, AbortSignal.any([this.#stage.signal, this.signal]));
  }
}
