// The waiting page of a sale with a line. Only such sales load it.

import { isFree, of, soldOut } from '../awards.js';
import { clock } from '../clock.js';
import { contactLine } from '../contact.js';
import { announce, h, replace } from '../dom.js';
import { hour } from '../early.js';
import { number, span } from '../format.js';
import { language, t } from '../i18n.js';
import { actions, backToSales, button, countdown, fact, milestones, panel, problemWords, spinner } from '../parts.js';
import { session } from '../session.js';
import { lineWords } from '../../words/line.js';
import { addToCalendar, check, opens, yours } from './idle-stages.js';

export { Waiting } from '../waiting.js';

language.add(lineWords);

/** How many people the line admits for each free unit, at most: `OVERBOOKED` in shared/pass/src/line. */
const OVERBOOKED = 10;
const MINUTE_S = 60;
const HOUR_S = 3600;

/** The line's name for the state of a sale for a visitor who is not buying; null if it is the same as without a line. */
export function stageOf(view, waiting, state) {
  const { state: line, ticket, isTurn, refused } = waiting;
  const canAsk = session.current && !waiting.isSignedOut;
  if (view.atLimit) return null;
  if (state === 'closed') return waiting.document?.seed && ticket ? 'ended' : null;
  if (line === 'ended') return 'ended';
  if (state === 'upcoming') {
    if (ticket) return 'early';
    if (clock.now() < waiting.ticketsFrom) return 'announced';
    if (refused) return 'refused';
    return canAsk ? 'coming' : 'sign_in';
  }
  if (line === 'sold_out' && (isTurn ? state !== 'between' : ticket || waiting.isGone)) return 'sold_out';
  if (canGoOn(view, waiting, state)) return 'going';
  if (isTurn) return state === 'open' || (state === 'sold_out' && line !== null) ? 'turn' : null;
  if (refused) return 'refused';
  if (!ticket) return canAsk ? 'joining' : 'sign_in';
  if (!waiting.document?.seed) return 'drawing';
  return line === 'paused' ? 'paused' : 'waiting';
}

/** Whether a user whose turn it is can go on to the question. */
export function canGoOn(view, waiting, state) {
  return waiting.isNewTurn && view.buying.purchase?.live.length === 0 && (state === 'open' || state === 'sold_out') && waiting.state === 'moving';
}

/** A part that is rendered again, without an announcement, when `key` changes. */
function live(key, make) {
  const place = h('div', { class: 'live' });
  let shown;
  const fill = () => {
    const now = JSON.stringify(key());
    if (now === shown) return;
    shown = now;
    replace(place, ...[make()].flat());
  };
  fill();
  return { place, fill };
}

/** A stage with a heading and parts; those in `live` are updated, and `every` is called every second. */
function stage(kind, title, parts, { left = () => 0, every = () => {} } = {}) {
  const all = parts.filter(Boolean);
  const element = panel(kind, title, ...all.map((part) => part.place ?? part));
  const tick = (ms) => {
    for (const part of all) part.fill?.();
    every(ms);
  };
  return { element, left, tick };
}

/** The view before the opening, with its countdown. */
function upcoming(view, title, parts) {
  const { boxes, left, tick } = countdown({
    to: () => view.opensAt, say: 'countdown.say',
    every(ms) {
      if (ms <= 0) announce(t('line.drawing.title'), 'assertive');
      view.update();
    },
  });
  const label = title === t('countdown.title') ? null : h('p', { class: 'quiet' }, t('countdown.title'));
  return stage('upcoming', title, [label, boxes, ...parts], { left, every: tick });
}

/** A number rounded to two digits. */
function about(n) {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, n))) - 1);
  return Math.round(n / step) * step;
}

const fair = () => h('p', {}, t('line.fair'));

/** Says that the last request failed; it is retried automatically. */
const trouble = (waiting) => live(() => waiting.trouble?.code, () => (
  waiting.trouble ? h('p', { class: 'hint' }, waiting.trouble.code === 'network' ? t('line.trouble') : problemWords(waiting.trouble).text) : null));

/** A range of numbers in words. */
function range({ from, to }, words) {
  if (from >= to) return words(number(to));
  return from === 0 ? t('line.most', { n: words(number(to)) }) : words(t('line.range', { from: number(from), to: number(to) }));
}

function beforeWords(range_) {
  if (range_ === null) return '–';
  return range_.to === 0 ? t('line.next') : range(range_, (n) => t('line.before.people', { n }));
}

/** A range of seconds in words, in minutes or larger units. */
export function waitWords(seconds) {
  if (seconds === null) return t('line.time.unknown');
  if (seconds.to < MINUTE_S) return t('line.time.soon');
  const [size, unit] = seconds.to >= 2 * HOUR_S ? [HOUR_S, 'hour'] : [MINUTE_S, 'minute'];
  const [from, to] = [Math.floor(seconds.from / size), Math.ceil(seconds.to / size)];
  const words = (n) => new Intl.NumberFormat(language.locale, { style: 'unit', unit, unitDisplay: 'long' }).format(n);
  if (from >= to) return t('line.time.about', { n: words(to) });
  return from === 0 ? t('line.most', { n: words(to) }) : t('line.range', { from: number(from), to: words(to) });
}

/** The user's position in the whole line. Less is known about late arrivals. */
function placeRow({ place, document: { people } }) {
  const n = number(about(people.estimate));
  if (place === null) return ['line.people', people.late > 0 ? t('line.people.late', { n, late: number(people.late) }) : t('line.time.about', { n })];
  return ['line.place', t('line.place.value', { n, range: range(place, (text) => text) })];
}

/** The user's position, or the length of the line for others, in numbers that follow the line. */
function standing(waiting) {
  const rows = () => {
    if (!waiting.document) return [];
    const { units } = waiting.document;
    const mine = waiting.ticket ? [['line.before', beforeWords(waiting.before)], ['line.wait', waitWords(waiting.waitS)]] : [];
    return [
      ...mine, placeRow(waiting), ['line.left', t('line.left.value', { left: number(Math.max(0, units.total - units.sold)), total: number(units.total) })],
    ];
  };
  return live(rows, () => rows().length > 0 && h('dl', { class: waiting.ticket ? 'odds standing' : 'odds standing all' }, rows().map(([name, value]) => fact(name, value))));
}

/** The sales whose proofs the reader has opened. */
const opened = new WeakSet();

/** Explains that nobody could choose the order, and how to check that. */
function proof(waiting) {
  const made = () => {
    const { document: line, proof: found, ppb } = waiting;
    if (!line) return null;
    const name = !found ? 'before' : !found.holds ? 'broken' : found.noted ? 'noted' : 'holds';
    const row = (word, value) => (value === null ? null : fact(word, h('code', {}, value)));
    const toggled = ({ target }) => (target.open ? opened.add(waiting) : opened.delete(waiting));
    return h('details', { class: `proof ${name}`, open: opened.has(waiting), ontoggle: toggled }, h('summary', { 'data-keep': 'proof' }, t(`line.proof.${name}`)),
      h('p', {}, t(`line.proof.${name}.text`)),
      h('dl', { class: 'public' }, row('line.proof.commitment', line.commitment), row('line.proof.seed', line.seed), row('line.proof.place', ppb === null ? null : String(ppb))),
      h('p', { class: 'quiet' }, t('line.proof.how')));
  };
  return live(() => [waiting.document?.commitment, waiting.proof, waiting.ppb], made);
}

function ordinal(n) {
  const form = new Intl.PluralRules(language.tag, { type: 'ordinal' }).select(n);
  return t(`line.nth.${form}`, { n: number(n) });
}

/** Shows the user's position, and how far the line went. */
function outcome(view, waiting) {
  const { document: { people, units }, ppb, ticket } = waiting;
  const values = { people: number(about(people.estimate)), sold: number(units.sold) };
  if (ppb === null) return of(view.card, 'line.end.nobody', values);
  if (ticket.second !== null) return of(view.card, 'line.end.late', values);
  const place = about(Math.max(1, Math.round((ppb / 1e9) * people.estimate)));
  return of(view.card, 'line.end', { ...values, place: ordinal(place) });
}

/** Whether units that may return could reach the user. */
function isFar(waiting) {
  const { before, isTurn, document: { units } } = waiting;
  return !isTurn && before !== null && before.from > units.may_return * OVERBOOKED;
}

function comingBack(waiting) {
  const { units } = waiting.document;
  if (waiting.isGone) return [h('p', {}, t('line.final'))];
  if (units.may_return === 0) return [h('p', {}, t('line.more'))];
  return [h('p', {}, t('line.may_return', { n: number(units.may_return) })), isFar(waiting) ? h('p', {}, t('line.may_return.far')) : null];
}

const joinButton = (waiting) => actions(button(t('line.join'), () => waiting.join(), { class: 'primary', 'data-keep': 'buy' }));

export const LINE_STAGES = {
  announced: (view, waiting) => upcoming(view, t('countdown.title'), [
    h('p', {}, t('line.announced', { at: hour(waiting.ticketsFrom) })), opens(view), proof(waiting), addToCalendar(view),
  ]),

  sign_in: (view, waiting) => (view.state === 'upcoming'
    ? upcoming(view, t('line.join'), [fair(), opens(view), proof(waiting), joinButton(waiting)])
    : stage('open', t('line.join'), [h('p', {}, t('line.join.late')), standing(waiting), trouble(waiting), proof(waiting), joinButton(waiting)])),

  coming: (view, waiting) => upcoming(view, t('countdown.title'), [
    live(() => waiting.askAt, () => (waiting.askAt === null ? null : h('p', {}, t('line.coming', { at: hour(Math.min(waiting.askAt + MINUTE_S * 1000, waiting.opensAt)) })))),
    fair(), trouble(waiting), proof(waiting),
  ]),

  early: (view, waiting) => upcoming(view, t('line.early.title'), [
    fair(), h('p', {}, t('line.early.keep')),
    live(() => waiting.document?.people.estimate, () => (
      waiting.document ? h('p', { class: 'quiet' }, t('line.early.people', { n: number(Math.max(1, about(waiting.document.people.estimate))) })) : null)),
    trouble(waiting), proof(waiting),
  ]),

  joining: (view, waiting) => stage('waiting', t('line.joining.title'), [spinner(), h('p', {}, t('line.joining')), trouble(waiting)]),

  drawing: (view, waiting) => stage('waiting', t('line.drawing.title'), [spinner(), h('p', {}, t('line.drawing')), trouble(waiting)]),

  waiting(view, waiting) {
    const say = milestones('line.say');
    return stage('in-line', t('line.waiting.title'), [
      yours(view), standing(waiting), h('p', {}, t('line.then')), h('p', { class: 'quiet' }, t('line.pace')), trouble(waiting), proof(waiting),
    ], { every: () => say((waiting.waitS?.to ?? Infinity) * 1000) });
  },

  paused: (view, waiting) => stage('in-line paused', t('line.paused.title'), [
    yours(view), h('p', {}, t('line.paused')), standing(waiting), trouble(waiting), contactLine(), proof(waiting),
  ]),

  going: (view) => stage('waiting', t('line.turn.title'), [spinner(), h('p', {}, of(view.card, 'wait.challenge'))]),

  turn: (view, waiting) => stage('open', t('line.turn.title'), [
    yours(view), h('p', {}, of(view.card, 'open.text', { window: span(view.card.payment_window_s) })), h('p', {}, t('line.turn.text')), trouble(waiting),
    proof(waiting), actions(view.buyButton()),
  ]),

  sold_out: (view, waiting) => stage('sold_out', soldOut(view.card).title, [
    yours(view), waiting.isTurn ? h('p', {}, t('line.end.turn')) : null,
    live(() => [waiting.document.people, waiting.document.units.sold], () => h('p', {}, outcome(view, waiting))),
    live(() => [waiting.isGone, waiting.document.units.may_return, isFar(waiting)], () => comingBack(waiting)),
    isFree(view.card) ? check(view) : null, trouble(waiting), proof(waiting), backToSales(),
  ]),

  ended: (view, waiting) => stage('closed', t('problem.closed.title'), [
    yours(view), h('p', {}, outcome(view, waiting)), h('p', {}, t('problem.closed.text')), check(view), proof(waiting), backToSales(),
  ]),

  refused(view, waiting) {
    const { title, text } = problemWords(waiting.refused);
    return stage(`problem ${waiting.refused.code}`, title, [
      h('p', {}, text), contactLine(), actions(button(t('retry'), () => waiting.retry(), { class: 'secondary', 'data-keep': 'buy' })),
    ]);
  },
};
