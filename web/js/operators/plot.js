// The units of a round by their place, over time.

import uPlot from 'uplot';
import { language, t } from '../i18n.js';

/** Kept readings: ten minutes at one per second. */
const READINGS = 600;
/** Lines must differ in more than colour. */
const DASHES = { free: [2, 4], to_drop: [2, 8], held: [8, 4], ordered: [], paid: [14, 4, 2, 4] };
const HEIGHT = 300;
/** Minimum width of the time axis: with less, all ticks would show the same second. */
const LEAST_S = 60;
/** Ticks are whole seconds. */
const TICKS = [1, 5, 10, 15, 30, 60, 120, 300];
/** Units are whole numbers. */
const WHOLE = [1, 2, 5].flatMap((first) => [0, 1, 2, 3, 4, 5, 6].map((zeros) => first * 10 ** zeros)).sort((a, b) => a - b);

/** Draws readings `{at, units}` into an element until `signal` is aborted. */
export class Plot {
  #place;
  #readings;
  #names;
  #plot = null;

  /** `names` are the names of the places, in words. */
  constructor(place, readings, names, signal) {
    [this.#place, this.#readings, this.#names] = [place, readings, names];
    const size = new ResizeObserver(() => this.#plot?.setSize({ width: place.clientWidth, height: HEIGHT }));
    size.observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#build(), { signal });
    signal.addEventListener('abort', () => {
      size.disconnect();
      this.#plot?.destroy();
    }, { once: true });
    this.#build();
  }

  /** Adds a reading. Several plots may share the readings. */
  static keep(readings, at, units) {
    readings.push({ at, units });
    if (readings.length > READINGS) readings.shift();
  }

  draw() {
    this.#plot?.setData(this.#data());
  }

  get #places() {
    return Object.keys(this.#names).filter((place) => place in DASHES);
  }

  #data() {
    return [
      this.#readings.map(({ at }) => at / 1000),
      ...this.#places.map((place) => this.#readings.map(({ units }) => units[place] ?? null)),
    ];
  }

  #build() {
    this.#plot?.destroy();
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const time = new Intl.DateTimeFormat(language.tag, { timeStyle: 'medium' });
    const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } };
    this.#plot = new uPlot({
      width: this.#place.clientWidth || 600,
      height: HEIGHT,
      cursor: { show: false },
      legend: { live: false },
      scales: { x: { range: (_, first, last) => [Math.min(first, last - LEAST_S), last] }, y: { range: (_, __, max) => [0, Math.max(1, max)] } },
      axes: [
        { ...axis, space: 96, incrs: TICKS, values: (_, seconds) => seconds.map((second) => time.format(second * 1000)) },
        { ...axis, size: 56, incrs: WHOLE },
      ],
      series: [
        { label: t('op.time') },
        ...this.#places.map((place) => ({
          label: this.#names[place], stroke: colour(place), width: 2.5, dash: DASHES[place], points: { show: false },
        })),
      ],
    }, this.#data(), this.#place);
  }
}
