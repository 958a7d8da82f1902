// The checks before a sale is published, each with what to do about it.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { moment, number, span } from '../format.js';
import { t } from '../i18n.js';
import { button } from '../parts.js';
import { api } from './api.js';
import { killSwitches } from './kill-switches.js';

/** A schedule loads sales every minute, which takes some seconds: after two minutes it must have happened. */
const LOADS_WITHIN_MS = 120_000;
/** Time that buyers need to learn of a sale. */
const SOON_MS = 3_600_000;

export const planCommand = ({ total, expected_audience: people, opens_at: at }) => `./flash plan --units ${total} --audience ${people} --opens-at ${at}`;

const line = (state, text, ...more) => ({ state, text, more });

function lines(sale, campaigns) {
  const now = clock.now();
  const left = Date.parse(sale.opens_at) - now;
  const opening = moment(sale.opens_at);
  const over = Date.parse(sale.closes_at) <= now;
  const edit = (key) => h('a', { href: `#/sales/${sale.sale_id}/settings` }, t(key));
  const of = campaigns?.filter(({ sale_ids: ids }) => ids.includes(sale.sale_id)) ?? [];
  const command = sale.expected_audience ? planCommand(sale) : null;
  const pictures = (sale.pictures ?? []).length;
  return [
    over ? line('bad', t('op.check.over', { at: moment(sale.closes_at) }), edit('op.check.move'))
      : left <= 0 ? line('warn', t('op.check.opened', { at: opening }), edit('op.check.move'))
        : line(left < SOON_MS ? 'warn' : 'good', t('op.check.opens', { at: opening, left: span(left / 1000) }), left < SOON_MS ? t('op.check.soon') : null),
    left >= LOADS_WITHIN_MS ? line('good', t('op.check.loaded')) : line('warn', t('op.check.not_loaded'), edit('op.check.move')),
    campaigns === null ? line('warn', t('op.check.campaign.unknown'))
      : of.length ? line('good', t('op.check.campaign', { titles: of.map(({ title }) => title).join(', ') }))
        : line('warn', t('op.check.campaign.none'), h('a', { href: `#/campaigns?sale=${sale.sale_id}` }, t('op.check.campaign.add'))),
    command ? line('todo', t('op.check.plan', { people: number(sale.expected_audience) }), h('code', {}, command), copyButton(command))
      : line('warn', t('op.check.plan.none'), edit('op.check.plan.add')),
    pictures ? line('good', t('op.check.pictures', { n: number(pictures) })) : line('warn', t('op.check.pictures.none'), edit('op.check.add')),
    sale.terms_url ? line('good', t('op.check.terms')) : line('warn', t('op.check.terms.none'), edit('op.check.add')),
    ...(killSwitches.has(sale.sale_id) ? [line('bad', t(killSwitches.all ? 'op.check.stopped_all' : 'op.check.stopped'))] : []),
  ];
}

function copyButton(text) {
  const copy = button(t('op.copy'), async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    copy.textContent = t('op.copied');
  }, { class: 'link' });
  return copy;
}

/** What the "Publish" dialog shows besides the question. */
export async function publishing({ sale }) {
  const campaigns = await api.campaigns().then((answer) => answer.campaigns, () => null);
  const row = ({ state, text, more }) => h('li', { class: state },
    h('span', { class: 'unseen' }, t(`op.check.is.${state}`)), h('span', {}, text, ...more.filter(Boolean).flatMap((one) => [' ', one])));
  return { wide: true, more: [h('h3', {}, t('op.check.title')), h('ul', { class: 'checklist' }, lines(sale, campaigns).map(row))] };
}
