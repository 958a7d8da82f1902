// What is stopped: one switch for everything, in the header, and a banner on every page while it is on.

import { h } from '../dom.js';
import { language, t } from '../i18n.js';
import { button } from '../parts.js';
import { api } from './api.js';
import { asking } from './dialog.js';

/** `now` is `{stopped, stopped_sales}`, or null while unknown. Calls each `change` listener. */
class KillSwitches extends EventTarget {
  now = null;

  async load(signal) {
    try {
      this.set(await api.killSwitches(signal));
    } catch {
      // Until the next answer, the previous one holds.
    }
  }

  set(now) {
    const changed = JSON.stringify(now) !== JSON.stringify(this.now);
    this.now = now;
    if (changed) this.dispatchEvent(new Event('change'));
  }

  get all() {
    return this.now?.stopped === true;
  }

  /** Whether a sale is stopped, by itself or with everything. */
  has(id) {
    return this.all || this.itself(id);
  }

  itself(id) {
    return this.now?.stopped_sales.includes(id) === true;
  }

  /** Asks, and stops or starts everything. */
  async turn(how) {
    const name = `op.${how}_all`;
    const question = {
      title: t(name), text: t(`${name}.text`), go: t(name), danger: how === 'stop',
      typed: how === 'stop' ? { words: [t('op.stop_all.word')], label: t('op.typed.word', { word: t('op.stop_all.word') }) } : null,
    };
    await asking(question, async () => this.set(await api.flip(how, {})));
  }

  /** The switch in the header. */
  button() {
    const how = this.all ? 'start' : 'stop';
    return button(t(`op.${how}_all`), () => this.turn(how), { class: `kill ${how}`, 'data-keep': 'kill' });
  }

  /** Shows the banner while everything is stopped. */
  banner(place) {
    const fill = () => {
      place.hidden = !this.all;
      place.setAttribute('aria-label', t('op.banner.title'));
      const text = h('p', {}, h('strong', {}, t('op.banner.title')), ' ', t('op.banner.text'));
      place.replaceChildren(...(this.all ? [h('div', { class: 'banner' }, text, button(t('op.start_all'), () => this.turn('start'), { class: 'secondary' }))] : []));
    };
    this.addEventListener('change', fill);
    language.addEventListener('change', fill);
    fill();
  }
}

export const killSwitches = new KillSwitches();
