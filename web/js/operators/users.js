// Users: who is blocked, and who is in which group.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment } from '../format.js';
import { language, t } from '../i18n.js';
import { button, problemWords, trouble } from '../parts.js';
import { api } from './api.js';
import { asking } from './asking.js';
import { groupList } from './early.js';
import { listing } from './listing.js';

const HOUR_MS = 3_600_000;
const KINDS = ['user', 'address', 'network'];
const COLUMNS = [['op.denied.who', 'user'], ['op.denied.why'], ['op.denied.until'], [null, 'act']];

export class Users {
  #place;
  #signal;
  #denied = null;
  #problem = null;
  #said = h('p', { class: 'said', role: 'status' });
  #results = h('div', { class: 'results' });

  constructor(place, signal) {
    [this.#place, this.#signal] = [place, signal];
    language.addEventListener('change', () => this.#build(), { signal });
    this.#build();
    this.#load();
  }

  async #load() {
    try {
      const { denied, denied_networks: networks } = await api.denied(this.#signal);
      this.#denied = [...networks, ...denied];
      this.#problem = null;
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#problem = error;
    }
    this.#fill();
  }

  #build() {
    this.#place.replaceChildren(
      h('h1', { tabindex: '-1' }, t('op.nav.users')), this.#said,
      h('section', { class: 'box' }, h('div', { class: 'board-head' }, h('h2', {}, t('op.denied')),
        button(t('op.deny'), () => this.#deny(), { class: 'secondary warn', 'data-keep': 'deny' })),
      h('p', { class: 'quiet' }, t('op.denied.lead')), this.#results),
      h('section', { class: 'box' }, h('div', { class: 'board-head' }, h('h2', {}, t('op.groups')),
        button(t('op.group'), () => this.#ask(groupList()), { class: 'secondary', 'data-keep': 'group' })),
      h('p', { class: 'quiet' }, t('op.groups.lead'))));
    this.#fill();
  }

  #fill() {
    if (this.#problem) {
      this.#results.replaceChildren(trouble(problemWords(this.#problem), () => this.#load()));
      return;
    }
    const row = ({ until, reason, note, ...denial }) => {
      const kind = KINDS.find((one) => one in denial);
      const who = denial[kind];
      const why = language.has(`op.reason.${reason}`) ? t(`op.reason.${reason}`) : reason;
      return [
        kind === 'user' ? who : `${who} (${t(`op.deny.${kind}`)})`, note ? `${why}: ${note}` : why, moment(until),
        button(t('op.allow'), () => this.#ask({
          question: { title: t('op.allow'), text: t('op.allow.text', { user: who }), go: t('op.allow') }, run: () => api.allow({ [kind]: who }),
        }), { class: 'secondary', 'data-keep': `allow ${who}`, 'aria-label': `${t('op.allow')}: ${who}` }),
      ];
    };
    const all = this.#denied;
    this.#results.replaceChildren(all === null ? h('p', { class: 'quiet' }, t('loading'))
      : all.length ? listing(t('op.denied'), COLUMNS, all.map(row)) : h('p', { class: 'quiet' }, t('op.deny.none')));
  }

  #deny() {
    return this.#ask({
      question: {
        title: t('op.deny'), text: t('op.deny.text'), go: t('op.deny'), danger: true,
        fields: [
          { name: 'kind', label: t('op.deny.kind'), value: 'user', options: KINDS.map((kind) => [kind, t(`op.deny.${kind}`)]) },
          { name: 'who', label: t('op.denied.who'), maxlength: 255, autocapitalize: 'none', spellcheck: 'false', autocomplete: 'off' },
          { name: 'hours', label: t('op.deny.hours'), type: 'number', value: '24', min: 1, max: 87_000, step: 1 },
          { name: 'note', label: t('op.deny.note'), maxlength: 120, required: false, autocomplete: 'off' },
        ],
      },
      run: ({ kind, who, hours, note }) => api.deny(
        { [kind]: who.trim(), ...(note && kind !== 'user' ? { note } : {}) }, new Date(clock.now() + Number(hours) * HOUR_MS).toISOString()),
    });
  }

  async #ask({ question, run }) {
    const say = (text) => {
      this.#said.textContent = text;
    };
    const answer = await asking(question, run, say);
    if (answer === null) return;
    if (answer.words) say(answer.words);
    await this.#load();
  }
}
