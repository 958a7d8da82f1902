// Rounds whose units differ: red packets and prize draws.

import { h } from './dom.js';
import { money, number } from './format.js';
import { language, t } from './i18n.js';
import { kindOf } from './pictures.js';

export { kindOf };

/** Whether the winners are drawn after the round. Until then, people have entries. */
export const isDrawnAtEnd = (sale) => (sale?.draw ?? sale)?.allocation?.draw === 'at_end';

export const isFree = (sale) => sale?.settlement === 'free';

/** The words of `key` for this kind of sale, for free sales, or for all. */
export function of(sale, key, values) {
  const own = [...(isDrawnAtEnd(sale) ? [`lottery.${key}`] : []), `${kindOf(sale)}.${key}`, ...(isFree(sale) ? [`free.${key}`] : [])].find((name) => language.has(name));
  return t(own ?? key, values);
}

/** Says that nothing is left, and whether a unit may come back. */
export function soldOut(sale) {
  const words = isFree(sale) ? 'sold_out' : 'problem.sold_out';
  return { title: of(sale, `${words}.title`), text: of(sale, `${words}.text`) };
}

const prizesIn = (prizes) => prizes.reduce((sum, { count }) => sum + count, 0);

/** What can be won, in one line. */
export function stake({ units, allocation, currency }) {
  return allocation.kind === 'split'
    ? t('split.stake', { total: money(allocation.total_minor, currency), n: number(units) })
    : t(isDrawnAtEnd({ allocation }) ? 'lottery.stake' : 'prizes.stake', { n: number(prizesIn(allocation.prizes)), units: number(units) });
}

/** The odds, as far as they are known. */
export function odds({ units, allocation, currency }) {
  const row = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
  // The odds depend on the number of entries.
  if (isDrawnAtEnd({ allocation })) return h('dl', { class: 'odds' }, allocation.prizes.map(({ name, count }) => row(name, `${number(count)} ×`)));
  if (allocation.kind === 'prizes') {
    const blanks = units - prizesIn(allocation.prizes);
    return h('dl', { class: 'odds' },
      allocation.prizes.map(({ name, count }) => row(name, t('prizes.odds', { count: number(count), units: number(units) }))),
      blanks > 0 ? row(t('award.blank'), t('prizes.odds', { count: number(blanks), units: number(units) })) : null);
  }
  const mean = money(Math.floor(allocation.total_minor / units), currency);
  return h('dl', { class: 'odds' },
    allocation.parts === 'equal' ? row(t('split.each'), mean)
      : [row(t('split.mean'), mean), row(t('split.least'), money(allocation.min_minor, currency))]);
}

/** An award, in a few words. */
export function awardWords({ kind, amount_minor: minor, currency, prize }) {
  if (kind === 'entered') return t('award.entered');
  return kind === 'amount' ? money(minor, currency) : kind === 'prize' ? prize : t('award.blank');
}

/** A substitute for the card of a sale that is long over: the award shows its kind. */
export function cardOf(award) {
  const draw = award.kind === 'entered' ? { draw: 'at_end' } : {};
  return { settlement: 'free', allocation: { kind: award.kind === 'amount' ? 'split' : 'prizes', ...draw } };
}

/** A link to the check of a draw, optionally for one unit. */
export function verifyLink(saleId, round, unit) {
  return h('a', { class: 'verify', href: `#/draws/${[saleId, round, ...(unit ? [unit] : [])].join('.')}` }, t('verify.title'));
}
