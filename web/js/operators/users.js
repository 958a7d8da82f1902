// Users: who is blocked, and who is in which group.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, number } from '../format.js';
import { Problem } from '../http.js';
import { language, t } from '../i18n.js';
import { button } from '../parts.js';
import { again, api } from './api.js';
import { asking } from './dialog.js';
import { listing } from './listing.js';
import { Screen } from './screen.js';

const HOUR_MS = 3_600_000;
/** Maximum users in one request and in one list, as the system accepts them. */
const PAGE = 1_000;
const MOST = 1_000_000;
const KINDS = ['user', 'address', 'network'];
const COLUMNS = [['op.blocked.who', 'user'], ['op.blocked.why'], ['op.blocked.until'], [null, 'act']];

/** Sends a list of any length; `say` receives the progress. */
async function change({ group, how, users, file }, say) {
  const lines = `${users}\n${file.size > 0 ? await file.text() : ''}`.split(/\r?\n/).map((line) => line.trim());
  const all = [...new Set(lines.filter(Boolean))];
  if (all.length === 0 || all.length > MOST) throw new Problem('group_list', { members: { detail: t('op.group.none', { most: number(MOST) }) } });
  const values = (sent) => ({ n: number(sent), all: number(all.length), group });
  for (let sent = 0; sent < all.length; sent += PAGE) {
    say(t('op.group.progress', values(sent)));
    // Sending a page twice has no further effect.
    await again(() => api.group(group, how, all.slice(sent, sent + PAGE)));
  }
  return { words: t('op.group.done', values(all.length)) };
}

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
        button(t('op.group'), () => this.#change(), { class: 'secondary', 'data-keep': 'group' })),
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
        button(t('op.allow'), () => this.#ask(
          { title: t('op.allow'), text: t('op.allow.text', { user: who }), go: t('op.allow') }, () => api.allow({ [kind]: who })), { class: 'secondary', 'data-keep': `allow ${who}`, 'aria-label': `${t('op.allow')}: ${who}` }),
      ];
    };
    this.list(this.#blocked, () => listing(t('op.blocked'), COLUMNS, this.#blocked.map(row)), h('p', { class: 'quiet' }, t('op.block.none')));
  }

  #block() {
    const question = {
      title: t('op.block'), text: t('op.block.text'), go: t('op.block'), danger: true,
      fields: [
        { name: 'kind', label: t('op.block.kind'), value: 'user', options: KINDS.map((kind) => [kind, t(`op.block.${kind}`)]) },
        { name: 'who', label: t('op.blocked.who'), maxlength: 255, autocapitalize: 'none', spellcheck: 'false', autocomplete: 'off' },
        { name: 'hours', label: t('op.block.hours'), type: 'number', value: '24', min: 1, max: 87_000, step: 1 },
        { name: 'note', label: t('op.block.note'), maxlength: 120, required: false, autocomplete: 'off' },
      ],
    };
    return this.#ask(question, ({ kind, who, hours, note }) => api.block(
      { [kind]: who.trim(), ...(note && kind !== 'user' ? { note } : {}) }, new Date(clock.now() + Number(hours) * HOUR_MS).toISOString()));
  }

  /** Adds users to a group, or removes them. */
  #change() {
    const question = {
      title: t('op.group'), text: t('op.group.text'), go: t('op.group.go'),
      fields: [
        { name: 'group', label: t('op.form.group'), value: 'members', pattern: '[A-Za-z0-9_\\-]{1,48}', maxlength: 48, autocapitalize: 'none', autocomplete: 'off' },
        { name: 'how', label: t('op.group.how'), value: 'add', options: [['add', t('op.group.add')], ['remove', t('op.group.remove')]] },
        { name: 'users', label: t('op.group.users'), lines: 4, required: false },
        { name: 'file', label: t('op.group.file'), type: 'file', accept: '.txt,.csv,text/plain', required: false, class: 'file' },
      ],
    };
    return this.#ask(question, change);
  }

  async #ask(question, run) {
    if (await asking(question, run, this.say) !== null) await this.load();
  }
}
