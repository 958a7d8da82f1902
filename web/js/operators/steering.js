// What an operator can do to a sale, each with a question that says what will happen.

import { isFree, kindOf } from '../awards.js';
import { h } from '../dom.js';
import { moment } from '../format.js';
import { t } from '../i18n.js';
import { button } from '../parts.js';
import { api } from './api.js';
import { confirm } from './dialog.js';
import { changeRain, rainFields } from './rain.js';

const newKey = () => crypto.randomUUID();

const ACTIONS = {
  publish: { when: ({ sale }) => sale.state === 'draft', run: ({ sale }) => api.publish(sale.sale_id) },
  pause: { when: ({ running, sale }) => running && !sale.paused, run: steer('pause') },
  resume: { when: ({ running, sale }) => running && sale.paused, run: steer('resume') },
  restock: {
    // What each unit wins is committed to.
    when: ({ running, sale }) => running && kindOf(sale) === 'units',
    fields: () => [{ name: 'units', label: t('op.restock.units'), type: 'number', min: 1, max: 9_999_999, value: '1' }],
    run: ({ sale }, key, { units }) => api.steer(sale, 'restock', key, { units: Number(units) }),
  },
  rain: { when: ({ running, sale }) => running && Boolean(sale.rain), fields: ({ sale }) => rainFields(sale), run: changeRain },
  beacon: {
    when: ({ awaits }) => Boolean(awaits),
    fields: () => [{
      name: 'signature', label: t('op.beacon.signature'), minlength: 96, maxlength: 96, pattern: '[0-9a-f]{96}', spellcheck: 'false', autocomplete: 'off',
    }],
    run: ({ sale }, key, { signature }) => api.beacon(sale, signature),
  },
  close: { danger: true, when: ({ running }) => running, run: steer('close') },
  end_recurrence: {
    danger: true, when: ({ sale }) => sale.state !== 'draft' && Boolean(sale.recurrence), run: steer('end_recurrence'),
  },
  stop: {
    danger: true, when: ({ sale, stopped }) => sale.state !== 'draft' && !stopped,
    run: ({ sale }) => api.switch('stop', { sale_id: sale.sale_id }),
  },
  start: { when: ({ stopped }) => stopped, run: startOne },
};

/** A sale that is started while everything is stopped sells as little as before. */
async function startOne({ sale }) {
  const switches = await api.switch('start', { sale_id: sale.sale_id });
  return { still_stopped: switches.stopped };
}

function steer(how) {
  return ({ sale }, key) => api.steer(sale, how, key);
}

/** The buttons that make sense as the sale is. `ask` runs one: see `asking`. */
export function steering(view, ask) {
  return h('div', { class: 'actions' }, Object.entries(ACTIONS)
    .filter(([, action]) => action.when(view))
    .map(([name, action]) => button(t(`op.${name}`), () => {
      const { sale, awaits } = view;
      const key = newKey();
      return ask({
        title: t(`op.${name}`),
        text: t(`op.${name === 'close' && isFree(sale) ? 'close_free' : name}.text`, { title: sale.title, at: moment(sale.opens_at), total: sale.total, round: sale.round, ...beaconWords(awaits) }),
        go: t(`op.${name}`), danger: action.danger, fields: action.fields?.(view),
      }, (values) => action.run(view, key, values));
    }, { class: action.danger ? 'secondary warn' : 'secondary', 'data-keep': name })));
}

/** What is asked for: a round of drand, when it comes, and where it is published. */
function beaconWords(awaits) {
  if (!awaits) return {};
  const { chain_hash: chain, round, at } = awaits;
  return { drand: round, when: moment(at), address: `https://api.drand.sh/${chain}/public/${round}` };
}

/** What an answer means, where it means more than that it is done. */
function done({ moved, still_stopped: stillStopped } = {}) {
  if (stillStopped) return t('op.start.still');
  return moved === undefined ? t('op.done') : t('op.redrive.done', { n: moved });
}

/** Asks, does it, and says how it went: `said` hears the words. An answer that is `said` has told it itself. */
export async function asking(question, run, said, problemWords) {
  const values = await confirm(question);
  if (values === null) return false;
  try {
    const answer = await run(values);
    if (!answer?.said) said(done(answer));
    return true;
  } catch (error) {
    const { title } = problemWords(error);
    said(`${t('op.failed', { title })}${error.members?.detail ? ` (${error.members.detail})` : ''}`);
    return false;
  }
}
