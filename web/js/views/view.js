// The common part of all screens.

import { announce, focusOn, h } from '../dom.js';
import { language, t } from '../i18n.js';

/** A screen in `main`, from `show` until `leave`. */
export class View {
  #ended = new AbortController();

  constructor(main) {
    this.main = main;
    language.addEventListener('change', () => this.render(), { signal: this.signal });
  }

  /** Aborted when the screen is left. */
  get signal() {
    return this.#ended.signal;
  }

  /** The document's title. */
  get title() {
    return '';
  }

  /** Renders everything again from the current data. */
  render() {}

  leave() {
    this.#ended.abort();
  }

  /** Shows the whole screen under its title: what `content` makes around its heading, which keeps the focus. */
  putAll(content) {
    document.title = `${this.title} · ${t('brand')}`;
    const before = this.main.querySelector('h1');
    const focused = before !== null && before === document.activeElement;
    const heading = h('h1', { tabindex: '-1' }, this.title);
    this.main.replaceChildren(...content(heading));
    if (focused) heading.focus();
  }

  /**
   * Shows `stage` in `place`. If the focus was inside the replaced part, it moves to the button with the same `data-keep`, to
   * the element that asks for it, or to the heading. Otherwise the focus stays, and the heading is announced.
   */
  put(place, stage, { quiet = false } = {}) {
    const active = document.activeElement;
    const mine = active !== place && place.contains(active);
    const keep = mine && active.dataset.keep;
    place.replaceChildren(stage);
    const heading = stage.querySelector('h2')?.textContent;
    if (mine) {
      const kept = keep ? stage.querySelector(`[data-keep="${keep}"]`) : null;
      focusOn(kept ?? stage.querySelector('[data-first]') ?? stage.querySelector('h2'));
    } else if (!quiet && heading) {
      announce(heading);
    }
  }
}
