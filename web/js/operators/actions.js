// The operator's actions on a sale, each with a question that explains the effect.

import { isFree, kindOf } from '../awards.js';
import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, number } from '../format.js';
import { t } from '../i18n.js';
import { button } from '../parts.js';
import { api } from './api.js';
import { LINE_ACTIONS } from './line.js';
import { publishing } from './publish.js';
import { changeRain, rainFields } from './rain.js';
import { instantOf, localOf, ownZone } from './zone.js';

const isDraft = ({ sale }) => sale.state === 'draft';
const isPublished = ({ sale }) => sale.state === 'published';
/** The earliest time at which anyone may buy. */
const firstOpening = (sale) => Date.parse(sale.opens_at) - 1000 * Math.max(0, ...(sale.early_access ?? []).map(({ lead_s: lead }) => lead));
const isToCome = (view) => isPublished(view) && clock.now() < firstOpening(view.sale);

const ACTIONS = {
  publish: { first: true, when: isDraft, run: ({ sale }) => api.publish(sale.sale_id), more: publishing },
  resume: { first: true, when: ({ running, sale }) => running && sale.paused, run: update('resume') },
  start: { first: true, when: ({ stopped, alone }) => stopped && alone, run: startOne },
  beacon: {
    first: true,
    when: ({ awaits }) => Boolean(awaits),
    fields: () => [{
      name: 'signature', label: t('op.beacon.signature'), minlength: 96, maxlength: 96, pattern: '[0-9a-f]{96}', spellcheck: 'false', autocomplete: 'off',
    }],
    run: ({ sale }, key, { signature }) => api.beacon(sale, signature),
  },
  pause: { when: ({ running, sale }) => running && !sale.paused, run: update('pause') },
  restock: {
    // What each unit wins is part of the commitment.
    when: ({ running, sale }) => running && kindOf(sale) === 'units',
    fields: () => [{ name: 'units', label: t('op.restock.units'), type: 'number', min: 1, max: 9_999_999, value: '1' }],
    run: ({ sale }, key, { units }) => api.update(sale, 'restock', key, { units: Number(units) }),
  },
  postpone: {
    when: isToCome,
    fields: ({ sale }) => [{ name: 'opens', label: t('op.postpone.opens', { zone: ownZone() }), type: 'datetime-local', value: localOf(Date.parse(sale.opens_at), ownZone()) }],
    run: postpone,
  },
  rain: { when: ({ running, sale }) => running && Boolean(sale.rain), fields: ({ sale }) => rainFields(sale), run: changeRain },
  ...LINE_ACTIONS,
  throttle: {
    when: ({ running }) => running,
    fields: ({ sale }) => [{ name: 'rate', label: t('op.throttle.rate'), type: 'number', min: 1, max: 100_000, required: false, value: String(sale.throttle_requests_per_s ?? 500) }],
    run: ({ sale }, key, { rate }) => api.update(sale, 'throttle', key, { requests_per_s: rate === '' ? null : Number(rate) }),
  },
  end_recurrence: { danger: true, when: (view) => isPublished(view) && Boolean(view.sale.recurrence), run: update('end_recurrence') },
  close: { danger: true, typed: true, when: ({ running }) => running, run: update('close') },
  stop: { danger: true, typed: true, when: ({ sale, stopped }) => sale.state === 'published' && !stopped, run: ({ sale }) => api.flip('stop', { sale_id: sale.sale_id }) },
  withdraw: { danger: true, typed: true, when: isToCome, run: ({ sale }) => api.withdraw(sale.sale_id) },
  delete: { danger: true, when: isDraft, run: ({ sale }) => api.remove(sale.sale_id).then(() => ({ gone: true })) },
};

/** An action and the one that undoes it are one switch, which keeps the focus. */
const switchOf = (name) => name.replace('resume', 'pause').replace('start', 'stop');

/** A sale that is started while everything is stopped still sells nothing. */
async function startOne({ sale }) {
  const killSwitches = await api.flip('start', { sale_id: sale.sale_id });
  return { still_stopped: killSwitches.stopped };
}

/** Moves the opening, and the end with it. */
function postpone({ sale }, key, { opens }) {
  const at = instantOf(opens, ownZone());
  const lasts = Date.parse(sale.closes_at) - Date.parse(sale.opens_at);
  const times = { opens_at: new Date(at).toISOString(), closes_at: new Date(at + lasts).toISOString() };
  return api.edit(sale.sale_id, { round: sale.round, round_version: sale.round_version, ...times }, key);
}

function update(how) {
  return ({ sale }, key) => api.update(sale, how, key);
}

/** The buttons for the sale's state: pending actions first, irreversible ones last. */
export function saleActions(view, ask) {
  const { sale, awaits } = view;
  const actions = Object.entries(ACTIONS).filter(([, action]) => action.when(view));
  const copy = h('a', { class: 'button', href: `#/new?from=${sale.sale_id}`, 'data-keep': 'duplicate' }, t('op.duplicate'));
  const change = isDraft(view) ? h('a', { class: 'button', href: `#/sales/${sale.sale_id}/settings`, 'data-keep': 'edit' }, t('op.edit')) : null;
  const words = { title: sale.title, at: moment(sale.opens_at), total: number(sale.total), round: sale.round, ...beaconWords(awaits) };
  const made = actions.map(([name, action]) => [action.first ? 0 : action.danger ? 2 : 1, button(t(`op.${name}`), async () => {
    const key = crypto.randomUUID();
    const what = name === 'close' && isFree(sale) ? 'close_free' : name;
    return ask({
      title: t(`op.${name}`), text: t(`op.${what}.text`, words), go: t(`op.${name}`), danger: action.danger, fields: action.fields?.(view),
      ...(action.typed ? { typed: { words: [sale.title, sale.sale_id], label: t('op.typed', { title: sale.title, id: sale.sale_id }) } } : {}),
      ...(await action.more?.(view)),
    }, (values) => action.run(view, key, values));
  }, { class: action.first ? 'primary' : action.danger ? 'secondary warn' : 'secondary', 'data-keep': switchOf(name) })]);
  const of = (wanted) => made.filter(([at]) => at === wanted).map(([, element]) => element);
  return h('div', { class: 'actions' }, of(0), of(1), change, copy, of(2));
}

/** What is requested: a round of drand, its time, and its URL. */
function beaconWords(awaits) {
  if (!awaits) return {};
  const { chain_hash: chain, round, at } = awaits;
  return { drand: round, when: moment(at), address: `https://api.drand.sh/${chain}/public/${round}` };
}
