// The operators' page: sales, orders, refunds, campaigns, users, and the system's health.

import { h } from '../dom.js';
import { shortId } from '../format.js';
import { frame } from '../frame.js';
import { language, t } from '../i18n.js';
import { signInDialog } from '../login.js';
import { button, problemWords, signedOut, trouble } from '../parts.js';
import { comeBack, renewal } from '../renewal.js';
import { session } from '../session.js';
import { refreshing } from '../timing.js';
import { operators } from '../../words/operators.js';
import { access, api } from './api.js';
import { Campaigns } from './campaigns.js';
import { Editor, forgetForms } from './editor.js';
import { exporting } from './exporting.js';
import { Health } from './health.js';
import { Home, forgetFigures } from './home.js';
import { Order } from './order.js';
import { Orders } from './orders.js';
import { Refunds } from './refunds.js';
import { SalePage, TABS } from './sale.js';
import { killSwitches } from './kill-switches.js';
import { Users } from './users.js';

const KILL_SWITCHES_MS = 10_000;
const ORDER = /^orders\/([a-z0-9][a-z0-9-]{0,47}\.[1-9][0-9]{0,9}\.[0-9a-f]{32})$/;
const SALE = /^sales\/([a-z0-9][a-z0-9-]{0,47})(?:\/([a-z]+))?$/;
const PAGES = ['orders', 'refunds', 'campaigns', 'users', 'health', 'new'];

language.add(operators);
await language.ready;
session.dialog = (expired) => signInDialog(expired, { operator: true });

const main = document.getElementById('main');
let ended = new AbortController();
/** The user who is known to be an operator, and the one who is known not to be. */
let admitted = null;
let refused = null;
/** The current screen: its kind, its view, and the tab of a sale. */
let shown = { kind: null, view: null, tab: null };
/** Where an order's back link leads. */
let ordersHash = null;

/** Parses the address. */
function asked() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const order = ORDER.exec(path)?.[1];
  if (order) return { kind: 'order', order, query, at: 'orders' };
  const [, sale, tab = ''] = SALE.exec(path) ?? [];
  if (sale && TABS.includes(tab)) return { kind: 'sale', sale, tab, query, at: '' };
  if (PAGES.includes(path)) return { kind: path, query, at: path === 'new' ? '' : path };
  return { kind: 'home', query, at: '' };
}

function screen(...children) {
  main.replaceChildren(h('div', { class: 'page' }, children));
}

function route(first = true) {
  ended.abort();
  ended = new AbortController();
  shown = { kind: null, view: null, tab: null };
  const user = session.current?.user ?? null;
  const { at } = asked();
  document.title = t('brand');
  frame.at(at, user !== null && user === refused);
  if (user === null) {
    main.replaceChildren(h('h1', { tabindex: '-1' }, t('brand')), signedOut(t('op.signed.out')));
  } else if (user === refused) refuse(user);
  else if (user === admitted) show();
  else admit(user, ended.signal);
  if (first) return;
  window.scrollTo(0, 0);
  (main.querySelector('h1') ?? main).focus();
}

/** Makes a request that only operators may make before showing anything that only they can use. */
async function admit(user, signal) {
  screen(h('h1', { tabindex: '-1' }, t('brand')), h('p', { class: 'lead' }, t('loading')));
  try {
    killSwitches.set(await api.killSwitches(signal));
    admitted = user;
  } catch (error) {
    // The screen shows any other error.
    if (error.code === 'forbidden') return;
  }
  if (signal.aborted) return;
  frame.render();
  const isFocused = main.contains(document.activeElement);
  show();
  if (isFocused) main.querySelector('h1')?.focus();
}

function refuse(user) {
  const other = () => {
    session.set(null);
    session.offer();
  };
  screen(h('h1', { tabindex: '-1' }, t('problem.forbidden.title')), h('p', { class: 'lead' }, t('op.refused', { user })),
    h('div', { class: 'actions' }, button(t('op.refused.other'), other, { class: 'primary' })));
}

function show() {
  const { kind, query, order, sale, tab = null } = asked();
  const { signal } = ended;
  const page = h('div', { class: 'page' });
  main.replaceChildren(page);
  const views = {
    home: () => new Home(page, new URLSearchParams(query).get('state') ?? '', signal),
    sale: () => new SalePage(page, sale, tab, query, signal),
    orders: () => new Orders(page, query, signal),
    order: () => new Order(page, order, ordersHash, signal),
    refunds: () => new Refunds(page, signal),
    campaigns: () => new Campaigns(page, query, signal),
    users: () => new Users(page, signal),
    health: () => new Health(page, signal),
    new: () => draft(page, new URLSearchParams(query).get('from'), signal),
  };
  shown = { kind, view: views[kind](), tab, sale };
  if (kind === 'orders' || (kind === 'sale' && tab === 'orders')) ordersHash = location.hash;
  const names = { home: 'op.nav.sales', new: 'op.new' };
  const name = kind === 'order' ? t('op.order.title', { id: shortId(order) }) : kind === 'sale' ? shown.view.title : t(names[kind] ?? `op.nav.${kind}`);
  document.title = `${name} · ${t('brand')}`;
  refreshing(() => killSwitches.load(signal), () => KILL_SWITCHES_MS, signal);
}

/** The editor of a new sale; a sale that it copies is loaded first. */
function draft(page, from, signal) {
  page.append(h('a', { class: 'back', href: from ? `#/sales/${from}` : '#/' }, t('op.nav.sales')));
  const place = h('div', { class: 'page' }, h('h1', { tabindex: '-1' }, t(from ? 'op.form.copy' : 'op.new')));
  page.append(place);
  if (!from) return new Editor(place, {}, signal);
  api.sale(from, signal).then((sale) => {
    const isFocused = place.contains(document.activeElement);
    new Editor(place, { from: sale }, signal);
    if (isFocused) place.querySelector('h1')?.focus();
  }).catch((error) => {
    if (!signal.aborted) place.append(trouble(problemWords(error)));
  });
  return null;
}

function follow() {
  const { kind, query, sale, tab } = asked();
  // A filter of orders is part of the address; another filter is the same screen.
  if ((kind === 'orders' && shown.kind === 'orders') || (kind === 'sale' && tab === 'orders' && shown.tab === 'orders' && shown.sale === sale)) {
    ordersHash = location.hash;
    shown.view.go(query);
    return;
  }
  route(false);
}

const links = ['', 'orders', 'refunds', 'campaigns', 'users', 'health'].map((path) => [path, `op.nav.${path || 'sales'}`]);
frame.start({ links, follow, tools: () => (admitted ? [killSwitches.button()] : []) });
const banner = h('div', { id: 'kill-switches', role: 'region', hidden: true });
document.getElementById('header').after(banner);
killSwitches.banner(banner);
killSwitches.addEventListener('change', () => frame.render());
access.addEventListener('refused', () => {
  [admitted, refused] = [null, session.current?.user ?? null];
  route();
});
let user = null;
session.addEventListener('change', () => {
  const now = session.current?.user ?? null;
  if (now !== user) {
    // The next user must not see this user's data; one who signs in again may be an operator by now.
    exporting.forget();
    forgetFigures();
    if (now !== null && user !== null) forgetForms();
    [admitted, refused, ordersHash] = [null, null, null];
    killSwitches.set(null);
    route();
  }
  user = now;
});
language.addEventListener('change', () => {
  // Screens with their own view update themselves, and keep what was typed.
  if (!shown.view) route();
});
renewal.start();
comeBack().finally(() => {
  user = session.current?.user ?? null;
  route();
});
