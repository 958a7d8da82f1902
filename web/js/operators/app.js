// The operators' page: the sales, and one of them live; orders; refunds.

import { clock } from '../clock.js';
import { focusOn, h } from '../dom.js';
import { moment, shortId } from '../format.js';
import { frame } from '../frame.js';
import { language, t } from '../i18n.js';
import { signInDialog } from '../login.js';
import { badge, button, panel, problemWords } from '../parts.js';
import { comeBack, renewal } from '../renewal.js';
import { session } from '../session.js';
import { refreshing } from '../timing.js';
import { operators } from '../../words/operators.js';
import { access, api } from './api.js';
import { Board } from './board.js';
import { groupList } from './early.js';
import { exporting } from './exporting.js';
import { campaign, denial, newEarly, newPacket, newPrizes, newRain, newSale } from './forms.js';
import { Order } from './order.js';
import { Orders } from './orders.js';
import { Refunds } from './refunds.js';
import { asking } from './steering.js';

const REFRESH_MS = 10_000;
const ORDER = /^orders\/([a-z0-9][a-z0-9-]{0,47}\.[1-9][0-9]{0,9}\.[0-9a-f]{32})$/;

language.add(operators);
await language.ready;
session.dialog = (expired) => signInDialog(expired, { operator: true });

const main = document.getElementById('main');
const side = h('div', { class: 'side' });
const place = h('div', { class: 'board' });
const said = h('p', { class: 'said', role: 'status' });
let sales = [];
let denied = [];
let problem = null;
let ended = new AbortController();
/** The user who is known to be an operator, and the one who is known to be none. */
let admitted = null;
let refused = null;
/** What is shown: `sales`, `orders`, `order` or `refunds`, and its view. */
let shown = { kind: null, view: null };
/** Where an order leads back to. */
let ordersHash = null;

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

/** What the address asks for. */
function asked() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const order = ORDER.exec(path)?.[1];
  if (order) return { kind: 'order', order, at: 'orders' };
  if (path === 'orders' || path === 'refunds') return { kind: path, query, at: path };
  return { kind: 'sales', at: '' };
}

function screen(...children) {
  main.replaceChildren(h('div', { class: 'page' }, children));
}

function route(first = true) {
  ended.abort();
  ended = new AbortController();
  shown = { kind: null, view: null };
  const user = session.current?.user ?? null;
  const { at } = asked();
  document.title = t('brand');
  frame.at(at, user !== null && user === refused);
  if (user === null) {
    const go = () => session.require().catch(() => {});
    main.replaceChildren(h('h1', { tabindex: '-1' }, t('brand')), h('div', { class: 'panel' },
      panel('signed-out', t('signed.out.title'), h('p', {}, t('signed.out.text')),
        h('div', { class: 'actions' }, button(t('sign.in'), go, { class: 'primary' })))));
  } else if (user === refused) refuse(user);
  else if (user === admitted) show();
  else admit(user, ended.signal);
  if (first) return;
  window.scrollTo(0, 0);
  focusOn(main.querySelector('h1') ?? main);
}

/** Asks something that only an operator is told, before anything is shown that only an operator can use. */
async function admit(user, signal) {
  screen(h('h1', { tabindex: '-1' }, t('brand')), h('p', { class: 'lead' }, t('loading')));
  try {
    await api.denied(signal);
    admitted = user;
  } catch (error) {
    // Whatever else went wrong, the screen says it.
    if (error.code === 'denied') return;
  }
  if (!signal.aborted) show();
}

function refuse(user) {
  const other = () => {
    session.set(null);
    session.require().catch(() => {});
  };
  screen(h('h1', { tabindex: '-1' }, t('problem.denied.title')), h('p', { class: 'lead' }, t('op.refused', { user })),
    h('div', { class: 'actions' }, button(t('op.refused.other'), other, { class: 'primary' })));
}

function show() {
  const { kind, query, order } = asked();
  const { signal } = ended;
  const named = (words) => {
    document.title = `${words} · ${t('brand')}`;
  };
  const page = h('div', { class: 'page' });
  shown = { kind, view: null };
  if (kind === 'sales') return sellings();
  main.replaceChildren(page);
  named(kind === 'order' ? t('op.order.title', { id: shortId(order) }) : t(`op.nav.${kind}`));
  if (kind === 'orders') {
    ordersHash = location.hash;
    shown.view = new Orders(page, query, signal);
  } else if (kind === 'order') shown.view = new Order(page, order, ordersHash, signal);
  else shown.view = new Refunds(page, signal);
}

function sellings() {
  main.replaceChildren(h('div', { class: chosen() ? 'desk watching' : 'desk' }, place, side));
  place.replaceChildren(h('h1', { tabindex: '-1' }, t('brand')), h('p', { class: 'lead' }, t(chosen() ? 'loading' : 'op.choose')));
  fill();
  refreshing(load, () => REFRESH_MS, ended.signal);
  if (chosen()) new Board(place, chosen(), load, ended.signal);
}

function follow() {
  const { kind, query } = asked();
  // A filter of orders is in the address, and another filter is the same screen.
  if (kind === 'orders' && shown.kind === 'orders') {
    ordersHash = location.hash;
    shown.view.go(query);
    return;
  }
  // Who goes from sale to sale keeps what is beside it, and the focus there.
  route(kind === 'sales' && shown.kind === 'sales');
}

frame.start({ links: [['', 'op.nav.sales'], ['orders', 'op.nav.orders'], ['refunds', 'op.nav.refunds']] });
access.addEventListener('refused', () => {
  [admitted, refused] = [null, session.current?.user ?? null];
  route();
});
document.addEventListener('visibilitychange', () => document.hidden || clock.forget());
window.addEventListener('hashchange', (event) => {
  if (new URL(event.newURL).hash !== '#main') follow();
});
let user = null;
session.addEventListener('change', () => {
  if (session.current?.user !== user) {
    // What one may know is not for another, and who signs in again may be an operator by now.
    exporting.forget();
    [admitted, refused, ordersHash] = [null, null, null];
    route();
  }
  user = session.current?.user ?? null;
});
language.addEventListener('change', () => {
  // What has a view of its own changes by itself, and keeps what is filled in.
  if (shown.view) return;
  if (shown.kind === 'sales' && chosen()) fill();
  else route();
});
renewal.start();
comeBack().finally(() => {
  user = session.current?.user ?? null;
  route();
});
