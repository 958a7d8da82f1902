// The operators' page: the sales, and one of them live.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment } from '../format.js';
import { frame } from '../frame.js';
import { language, t } from '../i18n.js';
import { signInDialog } from '../login.js';
import { config } from '../config.js';
import { finishSignIn } from '../oidc.js';
import { badge, button, panel, problemWords } from '../parts.js';
import { session } from '../session.js';
import { refreshing } from '../timing.js';
import { operators } from '../../words/operators.js';
import { api } from './api.js';
import { Board } from './board.js';
import { groupList } from './early.js';
import { campaign, denial, newEarly, newPacket, newPrizes, newRain, newSale } from './forms.js';
import { asking } from './steering.js';

const REFRESH_MS = 10_000;

language.add(operators);
session.dialog = (expired) => signInDialog(expired, { operator: true });

const main = document.getElementById('main');
const side = h('div', { class: 'side' });
const place = h('div', { class: 'board' });
const said = h('p', { class: 'said', role: 'status' });
let sales = [];
let denied = [];
let problem = null;
let ended = new AbortController();

const chosen = () => /^#\/sales\/([a-z0-9-]+)$/.exec(location.hash)?.[1] ?? null;

async function load() {
  try {
    const [list, out] = await Promise.all([api.sales(), api.denied()]);
    [sales, denied, problem] = [list.sales, out.denied, null];
  } catch (error) {
    problem = error;
  }
  fill();
}

async function ask({ question, run }, after = () => {}) {
  const say = (text) => {
    said.textContent = text;
  };
  if (await asking(question, async (values) => {
    const answer = await run(values, say);
    after(answer);
    return answer;
  }, say, problemWords)) await load();
}

function everything(how) {
  const name = `op.${how}_all`;
  return button(t(name), () => ask({
    question: { title: t(name), text: t(`${name}.text`), go: t(name), danger: how === 'stop' },
    run: () => api.switch(how, {}),
  }), { class: how === 'stop' ? 'secondary warn' : 'secondary', 'data-keep': name });
}

function choice({ sale_id: id, title, paused, opens_at: opens }) {
  const state = paused ? 'paused' : Date.parse(opens) > clock.now() ? 'upcoming' : 'open';
  return h('li', {}, h('a', {
    class: 'choice', href: `#/sales/${id}`, 'data-keep': id, 'aria-current': id === chosen() ? 'true' : null,
  }, h('span', {}, title), badge(state, t(`state.${state}`))));
}

function out({ user, until, reason }) {
  const allow = () => ask({ question: { title: t('op.allow'), text: t('op.allow.text', { user }), go: t('op.allow') }, run: () => api.allow(user) });
  const why = language.has(`op.reason.${reason}`) ? t(`op.reason.${reason}`) : reason;
  return h('li', { class: 'choice' },
    h('span', {}, h('strong', {}, user), h('br'), h('span', { class: 'quiet' }, `${why}, ${t('op.deny.until', { at: moment(until) })}`)),
    button(t('op.allow'), allow, { class: 'link', 'data-keep': `allow ${user}`, 'aria-label': `${t('op.allow')}: ${user}` }));
}

function lookup() {
  const go = (event) => {
    event.preventDefault();
    location.hash = `#/sales/${new FormData(event.target).get('id')}`;
  };
  return h('form', { onsubmit: go }, h('label', { for: 'look' }, t('op.look')),
    h('div', { class: 'row' }, h('input', {
      id: 'look', name: 'id', 'data-keep': 'look', required: true, pattern: '[a-z0-9][a-z0-9\\-]{0,47}', autocapitalize: 'none',
      placeholder: t('op.id'),
    }), h('button', { class: 'secondary', type: 'submit' }, t('op.open'))));
}

function fill() {
  if (!session.current) return;
  const active = side.contains(document.activeElement) ? document.activeElement : null;
  // Who types is not interrupted.
  if (active?.tagName === 'INPUT' && active.value !== '') return;
  const kept = active?.dataset.keep;
  const created = ({ sale_id: id }) => {
    location.hash = `#/sales/${id}`;
  };
  side.replaceChildren(
    h('h2', {}, t('op.sales')),
    problem ? h('p', { class: 'error', role: 'alert' }, problemWords(problem).title) : '',
    sales.length ? h('ul', {}, sales.map(choice)) : h('p', { class: 'quiet' }, t('op.none')),
    lookup(),
    h('div', { class: 'actions' },
      button(t('op.new'), () => ask(newSale(), created), { class: 'primary', 'data-keep': 'new' }),
      button(t('op.new_packet'), () => ask(newPacket(), created), { class: 'secondary', 'data-keep': 'new_packet' }),
      button(t('op.new_prizes'), () => ask(newPrizes(), created), { class: 'secondary', 'data-keep': 'new_prizes' }),
      button(t('op.new_rain'), () => ask(newRain(), created), { class: 'secondary', 'data-keep': 'new_rain' }),
      button(t('op.new_early'), () => ask(newEarly(), created), { class: 'secondary', 'data-keep': 'new_early' }),
      button(t('op.group'), () => ask(groupList()), { class: 'secondary', 'data-keep': 'group' }),
      button(t('op.campaign'), () => ask(campaign()), { class: 'secondary', 'data-keep': 'campaign' })),
    said,
    h('h2', {}, t('op.all')), h('div', { class: 'actions' }, everything('stop'), everything('start')),
    h('h2', {}, t('op.denied')),
    denied.length ? h('ul', {}, denied.map(out)) : h('p', { class: 'quiet' }, t('op.deny.none')),
    h('div', { class: 'actions' }, button(t('op.deny'), () => ask(denial()), { class: 'secondary warn', 'data-keep': 'deny' })));
  if (kept) side.querySelector(`[data-keep="${CSS.escape(kept)}"]`)?.focus();
}

function route() {
  ended.abort();
  ended = new AbortController();
  document.title = t('brand');
  frame.at('');
  if (!session.current) {
    const go = () => session.require().catch(() => {});
    main.replaceChildren(h('h1', { tabindex: '-1' }, t('brand')), h('div', { class: 'panel' },
      panel('signed-out', t('signed.out.title'), h('p', {}, t('signed.out.text')),
        h('div', { class: 'actions' }, button(t('sign.in'), go, { class: 'primary' })))));
    return;
  }
  main.replaceChildren(h('div', { class: chosen() ? 'desk watching' : 'desk' }, place, side));
  place.replaceChildren(h('h1', { tabindex: '-1' }, t('brand')), h('p', { class: 'lead' }, t(chosen() ? 'loading' : 'op.choose')));
  fill();
  refreshing(load, () => REFRESH_MS, ended.signal);
  if (chosen()) new Board(place, chosen(), load, ended.signal);
}

frame.start({ links: [['', 'op.sales']] });
document.addEventListener('visibilitychange', () => document.hidden || clock.forget());
window.addEventListener('hashchange', (event) => {
  if (new URL(event.newURL).hash !== '#main') route();
});
let user = null;
session.addEventListener('change', () => {
  if (session.current?.user !== user) route();
  user = session.current?.user ?? null;
});
language.addEventListener('change', () => (chosen() && session.current ? fill() : route()));
config().then(({ login }) => finishSignIn(login)).catch(() => {}).finally(() => {
  user = session.current?.user ?? null;
  route();
});
