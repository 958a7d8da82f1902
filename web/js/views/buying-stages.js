// The stages between the button and a reservation.

import { of, soldOut } from '../awards.js';
import { nextDrop } from '../catalog.js';
import { clock } from '../clock.js';
import { contactLine } from '../contact.js';
import { h } from '../dom.js';
import { quotaEnd } from '../early.js';
import { shortId, span } from '../format.js';
import { ask } from '../http.js';
import { t } from '../i18n.js';
import { actions, backToSales, badge, button, panel, problemWords, spinner } from '../parts.js';
import { betweenDrops, onlyQuotaLeft } from './idle-stages.js';

/** Whether the sale offers this kind of challenge. */
const offers = ({ kinds }, kind) => kinds.includes(kind) || null;

export const BUYING_STAGES = {
  waiting: (view, { what }) => panel('waiting', t('wait.title'), spinner(), h('p', {}, of(view.card, `wait.${what}`))),

  picture(view, { challenge, why }) {
    const wrong = why.wrong ? t('challenge.wrong') : why.over ? t('challenge.over') : '';
    const said = h('p', { class: 'error', id: 'challenge-said' }, wrong);
    const input = h('input', {
      id: 'answer', name: 'answer', inputmode: 'numeric', autocomplete: 'off', maxlength: 4, required: true,
      'data-first': true, 'aria-describedby': 'challenge-said challenge-text', 'aria-invalid': why.wrong ? 'true' : null,
    });
    const submit = (event) => {
      event.preventDefault();
      const answer = input.value.trim();
      if (/^\d+$/.test(answer)) {
        view.buying.answer(answer);
      } else {
        said.textContent = t('challenge.empty');
        input.setAttribute('aria-invalid', 'true');
        input.focus();
      }
    };
    return panel('challenge', t('challenge.title'),
      h('p', { id: 'challenge-text' }, t('challenge.text')),
      h('form', { onsubmit: submit, novalidate: true },
        h('img', { class: 'challenge', src: challenge.picture, alt: t('challenge.picture'), width: 240, height: 72 }), said,
        h('label', { for: 'answer' }, t('challenge.answer')),
        h('div', { class: 'row' }, input, h('button', { class: 'primary', type: 'submit' }, of(view.card, 'challenge.go')))),
      h('div', { class: 'links' },
        button(t('challenge.new'), () => view.buying.challenge('picture'), { class: 'link' }),
        offers(challenge, 'work') && button(t('challenge.work'), () => view.buying.challenge('work'), { class: 'link' })));
  },

  work(view, { challenge }) {
    const bar = h('progress', { max: 1, value: 0, 'aria-label': t('work.progress') });
    view.buying.addEventListener('progress', ({ part }) => {
      bar.value = part;
    }, { signal: view.signal });
    return panel('work', t('work.title'), h('p', {}, t('work.text')), bar,
      offers(challenge, 'picture') && h('div', { class: 'links' },
        button(t('work.picture'), () => view.buying.challenge('picture'), { class: 'link' })));
  },

  retrying(view, { problem, until }) {
    const { title, text } = problemWords(problem);
    const left = h('p', { class: 'quiet left' });
    return {
      element: panel('retrying', title, spinner(),
        h('p', {}, problem.members.reservation_id ? of(view.card, 'again.kept') : text), left,
        actions(button(t('retry'), () => view.buying.hurry(), { class: 'secondary', 'data-keep': 'hurry' }))),
      left: () => until - clock.now(),
      tick(ms) {
        left.textContent = ms > 0 ? t('again.in', { left: span(ms / 1000) }) : t('again.now');
      },
    };
  },

  signed_out: (view) => panel('signed-out', t('signed.out.title'), h('p', {}, t('signed.out.text')), actions(view.buyButton(t('sign.in')))),

  problem(view, { problem, at }) {
    const until = quotaEnd(view.card, problem);
    if (until !== null) return onlyQuotaLeft(view, until);
    const next = problem.code === 'sold_out' ? nextDrop(problem.members) : null;
    if (next !== null) return betweenDrops(view, next, view.dropHasCome);
    const { title, text } = problem.code === 'sold_out' ? soldOut(view.card) : problemWords(problem);
    const shown = (...parts) => panel(`problem ${problem.code}`, title, h('p', {}, text), ...parts);
    if (problem.code === 'rate_limited') return rateLimited(view, shown, at + (problem.retryAfterS ?? 1) * 1000);
    return shown(...(WHAT_NEXT[problem.code] ?? WHAT_NEXT.other)(view, problem));
  },
};

const turnedAway = () => [contactLine(), backToSales()];

/** What the buyer can do about a problem. */
const WHAT_NEXT = {
  sold_out: (view) => [actions(button(t('sold_out.look'), view.lookAgain, { class: 'secondary' }))],
  closed: () => [backToSales()],
  blocked: turnedAway,
  forbidden: turnedAway,
  unpaid_limit: () => [backToSales()],
  paused: () => [contactLine()],
  limit_reached: (view, problem) => [
    h('h3', {}, t('limit.yours')),
    h('ul', { class: 'reservations' }, (problem.members.reservation_ids ?? []).map((id) => live(id, view.signal))),
  ],
  other: (view) => [actions(view.buyButton(t('retry')))],
};

/** The button works again after `until`. */
function rateLimited(view, shown, until) {
  const said = h('p', { class: 'quiet left' });
  const again = view.buyButton(t('retry'), { 'aria-disabled': 'true', class: 'secondary' });
  again.addEventListener('click', (event) => {
    if (again.hasAttribute('aria-disabled')) event.stopImmediatePropagation();
  }, { capture: true });
  return {
    element: shown(said, actions(again)),
    left: () => until - clock.now(),
    tick(ms) {
      said.textContent = ms > 0 ? t('again.from', { left: span(ms / 1000) }) : '';
      if (ms <= 0) again.removeAttribute('aria-disabled');
    },
  };
}

/** A link to one of the user's reservations, with its current status. */
function live(id, signal) {
  const place = h('span', { class: 'status' }, badge('unknown', t('status.unknown')));
  ask('GET', `/v1/reservations/${id}`, { signal }).then(({ status }) => {
    place.replaceChildren(badge(status, t(`status.${status}`)));
  }, () => {});
  return h('li', {}, h('a', { href: `#/reservations/${id}` }, `${t('order.number')} ${shortId(id)}`), place);
}
