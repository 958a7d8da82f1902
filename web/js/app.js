// The shop: chooses the screen, and shows the frame around it.

import { beginScreen } from './catalog.js';
import { language, t } from './i18n.js';
import { signInDialog } from './login.js';
import { nothing, problemWords } from './parts.js';
import { comeBack, renewal } from './renewal.js';
import { session } from './session.js';
import { frame } from './frame.js';
import { SalesView } from './views/campaigns.js';
import { OrdersView } from './views/orders.js';
import { ReceiptView } from './views/receipt.js';
import { ReservationView } from './views/reservation.js';
import { SaleView } from './views/sale.js';
import { View } from './views/view.js';

class MissingView extends View {
  constructor(main) {
    super(main);
    this.render();
  }

  render() {
    document.title = `${t('missing.title')} · ${t('brand')}`;
    this.main.replaceChildren(...nothing({ title: t('missing.title'), text: t('missing.text') }));
  }
}

/** Few people check a draw, so its view is loaded on demand. */
class LazyVerifyView extends View {
  #shown = null;

  constructor(main, id) {
    super(main);
    import('./views/verify.js').then(({ VerifyView }) => {
      if (!this.signal.aborted) this.#shown = new VerifyView(main, id);
    }, () => main.replaceChildren(...nothing(problemWords({ code: 'network' }))));
  }

  leave() {
    super.leave();
    this.#shown?.leave();
  }
}

const ID = '([a-z0-9][a-z0-9.-]{0,91})';
const ROUTES = [
  [/^$/, SalesView],
  [new RegExp(`^campaigns/${ID}$`), SalesView],
  [new RegExp(`^sales/${ID}$`), SaleView],
  [new RegExp(`^reservations/${ID}$`), ReservationView],
  [new RegExp(`^receipts/${ID}$`), ReceiptView],
  [/^orders$/, OrdersView],
  [/^draws\/([a-z0-9][a-z0-9-]{0,47}\.[1-9][0-9]{0,9}(?:\.[1-9][0-9]{0,7})?)$/, LazyVerifyView],
];

const main = document.getElementById('main');
let view = null;

function route(first = false) {
  const path = location.hash.replace(/^#\/?/, '');
  view?.leave();
  main.replaceChildren();
  const [pattern, Screen] = ROUTES.find(([one]) => one.test(path)) ?? [/^/, MissingView];
  view = new Screen(main, pattern.exec(path)[1]);
  frame.at(path);
  if (first) return;
  window.scrollTo(0, 0);
  (main.querySelector('h1') ?? main).focus();
}

function start() {
  session.dialog = signInDialog;
  frame.start({ links: [['', 'nav.sales'], ['orders', 'nav.orders']], follow: route });
  session.addEventListener('change', () => {
    if (!session.current) route();
  });
  route(true);
}

beginScreen(location.hash);
renewal.start();
Promise.all([language.ready, comeBack()]).then(start);
