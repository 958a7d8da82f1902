// Money, times and durations for people.

import { language } from './i18n.js';

export function money(minor, currency) {
  const format = new Intl.NumberFormat(language.locale, { style: 'currency', currency });
  return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** Date and time of day, on request with the name of the time zone. */
export function moment(text, zone = false) {
  const how = zone
    ? { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' }
    : { dateStyle: 'medium', timeStyle: 'short' };
  return new Intl.DateTimeFormat(language.locale, how).format(new Date(text));
}

/** The time of day, to the second. */
export const timeOfDay = (ms) => new Intl.DateTimeFormat(language.locale, { timeStyle: 'medium' }).format(new Date(ms));

export const number = (value) => new Intl.NumberFormat(language.locale).format(value);

/** Days, hours, minutes and seconds. Rounded up, so that zero is shown only at zero. */
export function parts(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return {
    days: Math.floor(seconds / 86_400),
    hours: Math.floor(seconds / 3600) % 24,
    minutes: Math.floor(seconds / 60) % 60,
    seconds: seconds % 60,
  };
}

/** `1:02:03` or `14:59`. */
export function clockFace(ms) {
  const { days, hours, minutes, seconds } = parts(ms);
  const two = (value) => String(value).padStart(2, '0');
  const all = days * 24 + hours;
  return all > 0 ? `${all}:${two(minutes)}:${two(seconds)}` : `${two(minutes)}:${two(seconds)}`;
}

/** A duration in its largest whole unit, such as `15 minutes`. */
export function span(seconds) {
  const [value, unit] = seconds >= 7200 ? [Math.round(seconds / 3600), 'hour']
    : seconds >= 120 ? [Math.round(seconds / 60), 'minute'] : [Math.ceil(seconds), 'second'];
  return new Intl.NumberFormat(language.locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

/** The end of a reservation's id, short enough to read out. */
export const shortId = (id) => id.slice(-8).toUpperCase();

/** The sale in a reservation's id, `SALE.ROUND.UUID`. */
export const saleOf = (id) => id.split('.')[0];

/** The round in a reservation's id. */
export const roundOf = (id) => id.split('.')[1];
