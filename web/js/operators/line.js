// The line in front of a sale: its progress and its pace.

import { WHOLE_PPB } from '../../../clients/typescript/src/place.js';
import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, number } from '../format.js';
import { t } from '../i18n.js';
import { api } from './api.js';
import { figure, percent } from './screen.js';

/** Maximum admissions per second. */
const MOST = 100_000;

/** Changes the limits of a running line, for the round that the operator sees. */
const edit = (change) => ({ sale }, key, values) => api.edit(sale.sale_id, { round: sale.round, round_version: sale.round_version, line: change(values) }, key);

const runs = ({ running, sale }) => running && Boolean(sale.line);

/** The operator's actions; see actions.js. */
export const LINE_ACTIONS = {
  line_resume: { first: true, when: (view) => runs(view) && view.sale.line.paused === true, run: edit(() => ({ paused: false })) },
  line_pause: { when: (view) => runs(view) && !view.sale.line.paused, run: edit(() => ({ paused: true })) },
  line_rate: {
    when: runs,
    fields: ({ sale }) => [{ name: 'rate', label: t('op.line_rate.rate'), type: 'number', min: 1, max: MOST, step: 1, value: String(sale.line.admits_per_s) }],
    run: edit(({ rate }) => ({ admits_per_s: Number(rate) })),
  },
};

/** The progress of the line; `line` is its public document, or null if it could not be loaded. */
export function lineShown(sale, line) {
  const planned = figure('op.line.rate', t('op.line.per_s', { n: number(sale.line.admits_per_s) }), sale.line.paused ? t('op.line.held') : null);
  if (!line) return [h('dl', { class: 'figures' }, planned), h('p', { class: 'quiet' }, t('op.line.none'))];
  const { people, admitted, units } = line;
  const part = admitted.early_ppb / WHOLE_PPB;
  const reached = admitted.late_until === null ? null : t('op.line.late_until', { at: moment(admitted.late_until) });
  return [
    h('p', { class: 'stake' }, t(`op.line.${line.state}`, { n: number(units.may_return) })),
    h('progress', { max: WHOLE_PPB, value: String(admitted.early_ppb), 'aria-label': t('op.line.admitted') }),
    h('dl', { class: 'figures' },
      figure('op.line.early', number(people.estimate), people.estimate > 0 ? t('op.line.error', { n: number(people.error_percent) }) : null),
      figure('op.line.late', number(people.late)),
      figure('op.line.admitted', t('op.line.about', { n: number(Math.round(part * people.estimate)) }), percent(part)),
      planned,
      clock.now() < Date.parse(line.tickets_from) ? figure('op.line.tickets_from', moment(line.tickets_from)) : null),
    reached ? h('p', { class: 'quiet' }, reached) : null,
    h('p', { class: 'quiet' }, t('op.line.commitment'), ' ', h('code', { class: 'ids' }, line.commitment)),
  ].filter(Boolean);
}
