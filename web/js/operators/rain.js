// Sales whose units become available over time: the plan, its form, and its progress.

import { clock } from '../clock.js';
import { h } from '../dom.js';
import { number, span, timeOfDay } from '../format.js';
import { Problem } from '../http.js';
import { t } from '../i18n.js';
import { api } from './api.js';

/** Number of upcoming drops in the list. */
const SHOWN = 5;

/** Milliseconds after the opening. */
const since = (sale) => clock.now() - Date.parse(sale.opens_at);

/** The listed drops that are still to come. */
const ahead = (sale) => (sale.rain.drops ?? []).filter(({ after_s: after }) => after * 1000 > since(sale));

/** The next times at which units become available, in order: `{at, units}`. */
function nextDrops(sale) {
  const { steady, from_ms: from = 0 } = sale.rain;
  const opens = Date.parse(sale.opens_at);
  const every = (steady?.every_s ?? 0) * 1000;
  const beat = Math.max(0, Math.floor((since(sale) - from) / every)) + 1;
  const steadily = steady ? Array.from({ length: SHOWN }, (_, n) => ({ at: opens + from + every * (beat + n), units: steady.units })) : [];
  const listed = ahead(sale).map(({ after_s: after, units }) => ({ at: opens + after * 1000, units }));
  return [...steadily, ...listed].filter(({ at }) => at < Date.parse(sale.closes_at)).sort((a, b) => a.at - b.at).slice(0, SHOWN);
}

const whole = (word, name, value, min, max) => ({ name, label: t(`op.rain.${word}`), type: 'number', value: String(value), min, max, step: 1 });

export function rainFields(sale) {
  const { steady } = sale.rain;
  return [
    whole('more_at_once', 'at_once', 0, 0, 10_000_000),
    whole('units', 'units', steady?.units ?? 0, 0, 10_000_000),
    whole('every_s', 'every_s', steady?.every_s ?? 60, 1, 86_400),
    {
      name: 'drops', label: t('op.form.drops'), lines: 3, required: false, placeholder: t('op.rain.drops.example'),
      value: ahead(sale).map(({ after_s: after, units }) => `${after} ${units}`).join('\n'),
    },
  ];
}

/** The plan from the form's values. The system refuses an unreadable drop and says why. */
export function rainOf({ at_once: atOnce, units, every_s: every, drops }) {
  const listed = drops.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const [after, count] = line.split(/[^\d]+/).map(Number);
    return { after_s: after || 0, units: count || 0 };
  });
  return {
    at_once: Number(atOnce),
    ...(Number(units) > 0 ? { steady: { units: Number(units), every_s: Number(every) } } : {}),
    ...(listed.length ? { drops: listed } : {}),
  };
}

/** Changes the plan, unless it is no longer the one that the operator saw: units for sale at once would be added twice. */
export async function changeRain({ sale }, key, values) {
  const now = await api.sale(sale.sale_id);
  if (now.round === sale.round && JSON.stringify(now.rain) !== JSON.stringify(sale.rain)) throw new Problem('rain_changed', { status: 409 });
  return api.update(sale, 'rain', key, { rain: rainOf(values) });
}

/** The progress of the rain, and the next drops. `units` are from the live figures. */
export function rainShown(sale, units) {
  const over = clock.now() >= Date.parse(sale.closes_at);
  const early = since(sale) < 0;
  const { steady } = sale.rain;
  const dropped = Number.isInteger(units?.to_drop) ? units.total - units.to_drop : null;
  const words = t('op.rain.out', { dropped: dropped === null ? '–' : number(dropped), units: number(sale.total) });
  const next = over ? [] : nextDrops(sale);
  const opening = early && sale.rain.at_once > 0 ? [{ at: Date.parse(sale.opens_at), units: sale.rain.at_once }] : [];
  return [
    h('p', { class: 'stake' }, words),
    h('progress', { max: sale.total, value: String(dropped ?? 0), 'aria-label': words }),
    h('p', { class: 'quiet' }, steady ? t('op.rain.steady', { units: number(steady.units), every: span(steady.every_s) }) : t('op.rain.unsteady')),
    next.length || opening.length
      ? h('ul', { class: 'drops' }, [...opening, ...next].slice(0, SHOWN).map(({ at, units: n }) => h('li', {}, t('op.rain.drop', { at: timeOfDay(at), n: number(n) }))))
      : h('p', { class: 'quiet' }, t('op.rain.none')),
  ];
}
