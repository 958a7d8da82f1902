// Users: who is blocked, and who is in which group.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment } from '../format.js';
import { language, t } from '../i18n.js';
import { button } from '../parts.js';
import { api } from './api.js';
import { asking } from './dialog.js';
import { groupList } from './early.js';
import { listing } from './listing.js';
import { Screen } from './screen.js';

const HOUR_MS = 3_600_000;
const KINDS = ['user', 'address', 'network'];
const COLUMNS = [['op.blocked.who', 'user'], ['op.blocked.why'], ['op.blocked.until'], [null, 'act']];

export class Users extends Screen {
  #blocked = null;

  constructor(place, signal) {
    super(place, signal);
    this.build();
    this.load();
  }

  load() {
    return this.loading(async () => {
      const { blocked, blocked_networks: networks } = await api.blocked(this.signal);
      this.#blocked = [...networks, ...blocked];
    });
  }

  build() {
    this.place.replaceChildren(
      h('h1', { tabindex: '-1' }, t('op.nav.users')), this.said,
      h('section', { class: 'box' }, h('div', { class: 'board-head' }, h('h2', {}, t('op.blocked')),
        button(t('op.block'), () => this.#block(), { class: 'secondary warn', 'data-keep': 'block' })),
      h('p', { class: 'quiet' }, t('op.blocked.lead')), this.results),
      h('section', { class: 'box' }, h('div', { class: 'board-head' }, h('h2', {}, t('op.groups')),
        button(t('op.group'), () => this.#ask(groupList()), { class: 'secondary', 'data-keep': 'group' })),
      h('p', { class: 'quiet' }, t('op.groups.lead'))));
    this.fill();
  }

  fill() {
    const row = ({ until, reason, note, ...block }) => {
      const kind = KINDS.find((one) => one in block);
      const who = block[kind];
      const why = language.has(`op.reason.${reason}`) ? t(`op.reason.${reason}`) : reason;
      return [
        kind === 'user' ? who : `${who} (${t(`op.block.${kind}`)})`, note ? `${why}: ${note}` : why, moment(until),
        button(t('op.allow'), () => this.#ask({
          question: { title: t('op.allow'), text: t('op.allow.text', { user: who }), go: t('op.allow') }, run: () => api.allow({ [kind]: who }),
        }), { class: 'secondary', 'data-keep': `allow ${who}`, 'aria-label': `${t('op.allow')}: ${who}` }),
      ];
    };
    this.list(this.#blocked, () => listing(t('op.blocked'), COLUMNS, this.#blocked.map(row)), h('p', { class: 'quiet' }, t('op.block.none')));
  }

  #block() {
    return this.#ask({
      question: {
        title: t('op.block'), text: t('op.block.text'), go: t('op.block'), danger: true,
        fields: [
          { name: 'kind', label: t('op.block.kind'), value: 'user', options: KINDS.map((kind) => [kind, t(`op.block.${kind}`)]) },
          { name: 'who', label: t('op.blocked.who'), maxlength: 255, autocapitalize: 'none', spellcheck: 'false', autocomplete: 'off' },
          { name: 'hours', label: t('op.block.hours'), type: 'number', value: '24', min: 1, max: 87_000, step: 1 },
          { name: 'note', label: t('op.block.note'), maxlength: 120, required: false, autocomplete: 'off' },
        ],
      },
      run: ({ kind, who, hours, note }) => api.block(
        { [kind]: who.trim(), ...(note && kind !== 'user' ? { note } : {}) }, new Date(clock.now() + Number(hours) * HOUR_MS).toISOString()),
    });
  }

  async #ask({ question, run }) {
    if (await asking(question, run, this.say) !== null) await this.load();
  }
}
