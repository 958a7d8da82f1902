// The stages of a reservation.

import { awardWords, isFree, of, verifyLink } from '../awards.js';
import { clock } from '../clock.js';
import { h } from '../dom.js';
import { clockFace, money, moment, number, roundOf, saleOf } from '../format.js';
import { ask } from '../http.js';
import { language, t } from '../i18n.js';
import { actions, button, milestones, panel, problemWords, spinner } from '../parts.js';
import { pay } from '../pay.js';

const toOrders = () => h('a', { class: 'button secondary', href: '#/orders' }, t('to.orders'));
const toSale = (view) => h('a', { class: 'button secondary', href: `#/sales/${saleOf(view.id)}` }, t('to.sale'));

/** Says that the last request failed; it is retried automatically. */
function trouble(view) {
  const { trouble: problem } = view.watch;
  return problem ? h('p', { class: 'hint' }, problemWords(problem).title) : null;
}

/** Says that nothing was charged, or that a refund is due; null otherwise. */
function refund({ refund_due: due, status }) {
  if (!due && ['expired', 'cancelled', 'failed'].includes(status)) return h('p', {}, t('nothing.taken'));
  return due ? h('div', { class: 'hint' }, h('strong', {}, t('refund.title')), ' ', t('refund.text')) : null;
}

/** With this much time left, words and colour warn that it runs out. */
const HURRY_MS = 180_000;
const LAST_MS = 60_000;
const urgency = (ms) => (ms <= LAST_MS ? 'last' : ms <= HURRY_MS ? 'hurry' : 'left');

function ended(kind, icon, links) {
  return (view, reservation) => panel(kind, t(`${kind}.title`), mark(icon), h('p', {}, t(`${kind}.text`, reservation)), refund(reservation),
    actions(links(view)));
}

const mark = (icon) => h('div', { class: `mark ${icon}`, 'aria-hidden': 'true' });

export const RESERVATION_STAGES = {
  loading: (view) => panel('waiting', t('wait.title'), spinner(), h('p', {}, t('loading')), trouble(view)),

  problem(view) {
    const { title, text } = problemWords(view.watch.trouble);
    return panel('problem', title, h('p', {}, text), actions(toOrders()));
  },

  signed_out: (view) => panel('signed-out', t('signed.out.title'), h('p', {}, t('signed.out.text')),
    actions(button(t('sign.in'), view.again, { class: 'primary' }))),

  queued: (view) => panel('queued', t('queued.title'), spinner(), h('p', {}, of(view.card, view.slow ? 'queued.slow' : 'queued.text')),
    h('p', { class: 'quiet' }, t('queued.keep')), trouble(view)),

  pending_payment(view, reservation) {
    const face = h('span', { class: 'face' });
    const label = h('span', { class: 'label' }, t('pending.left'));
    const timer = h('div', { class: 'left', role: 'timer', 'aria-label': t('pending.left') },
      label, face, h('span', { class: 'quiet' }, t('pending.by', { at: moment(reservation.pay_by, true) })));
    const say = milestones('pending.say');
    const price = money(reservation.price_minor, reservation.currency);
    return {
      element: panel('pending', t('pending.title'), h('p', {}, t('pending.text')), timer, failure(view), trouble(view),
        view.doing === 'asking' || view.doing === 'giving' ? giveBack(view) : payment(view, reservation, price)),
      left: () => Date.parse(reservation.pay_by) - clock.now(),
      tick(ms) {
        face.textContent = clockFace(ms);
        const now = urgency(ms);
        if (timer.dataset.urgency !== now) {
          timer.dataset.urgency = now;
          label.textContent = t(`pending.${now}`);
        }
        say(ms);
        if (ms > 0) return;
        view.watch.soon();
        view.update();
      },
    };
  },

  over: (view, reservation) => panel('over', t('over.title'), spinner(), h('p', {}, t('over.text')), refund(reservation), trouble(view)),

  granted(view, reservation) {
    const { award, unit } = reservation;
    const next = [refund(reservation), actions(toOrders(), toSale(view))];
    if (!award) return panel('granted', t('granted.title'), mark('good'), h('p', {}, t('granted.text', { unit })), ...next);
    return panel(`granted ${award.kind}`, t(`award.${award.kind}.title`),
      h('p', { class: `award ${award.kind}` }, award.kind === 'entered' ? t('award.entered.number', { unit: number(unit) }) : awardWords(award)),
      h('p', {}, t(`award.${award.kind}.text`)), h('p', { class: 'quiet' }, verifyLink(saleOf(view.id), roundOf(view.id), unit)), ...next);
  },

  paid: ended('paid', 'good', ({ id }) => [h('a', { class: 'button secondary', href: `#/receipts/${id}` }, t('receipt')), toOrders()]),
  expired: ended('expired', 'gone', ({ id }) => [h('a', { class: 'button primary', href: `#/sales/${saleOf(id)}` }, t('buy.again')), toOrders()]),
  cancelled: ended('cancelled', 'gone', (view) => [toOrders(), toSale(view)]),

  failed(view, reservation) {
    const reason = `failed.${reservation.reason}`;
    return panel('failed', t('failed.title'), mark('gone'), h('p', {}, t(language.has(reason) ? reason : 'failed.other')),
      isFree(view.card) ? null : refund(reservation), actions(toSale(view), toOrders()));
  },
};

function failure({ said }) {
  if (!said) return null;
  const text = language.has(`problem.${said}.title`) && said !== 'internal' ? t(`problem.${said}.title`) : t('pay.failed');
  return h('p', { class: 'error', role: 'alert' }, text);
}

function payment(view, reservation, price) {
  const paying = view.doing === 'paying';
  const go = () => view.during('paying', async () => {
    await pay(reservation);
    view.watch.soon();
  });
  const ask = () => {
    view.doing = 'asking';
    view.update();
  };
  return actions(
    button(paying ? t('paying') : t('pay', { price }), go,
      { class: 'primary', 'data-keep': 'pay', 'aria-disabled': paying ? 'true' : null }),
    button(t('give.back'), ask, { class: 'link', 'aria-disabled': paying ? 'true' : null }));
}

/** Asks before giving the unit back, which cannot be undone. */
function giveBack(view) {
  const busy = view.doing === 'giving' ? 'true' : null;
  const yes = () => view.during('giving', async () => {
    view.watch.hear(await ask('DELETE', `/v1/reservations/${view.id}`, { signal: view.signal }).finally(() => view.watch.soon()));
  });
  const no = () => {
    view.doing = null;
    view.update();
  };
  return h('div', { class: 'ask', role: 'group', 'aria-labelledby': 'give-back' },
    h('p', { id: 'give-back', tabindex: '-1', 'data-first': true }, t('give.back.ask')),
    actions(
      button(t('give.back.yes'), yes, { class: 'danger', 'aria-disabled': busy }),
      button(t('give.back.no'), no, { class: 'secondary', 'aria-disabled': busy })));
}
