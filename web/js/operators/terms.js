// A sale's terms, in the form's format and in the system's. The form has major units of money, minutes, and times in a zone.

import { localOf, instantOf, isZone, ownZone } from './zone.js';

const ID = /^[a-z0-9][a-z0-9-]{0,47}$/;
const GROUP = /^[A-Za-z0-9_-]{1,48}$/;
const HOUR_MS = 3_600_000;
const MOST_MINOR = 1_000_000_000_000;

/** The number of decimal digits of a currency. */
export function digitsOf(currency) {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;
  } catch {
    return 2;
  }
}

/** The minor units of an amount such as `9.90`; null if invalid. A comma counts as a point: there are no thousands separators. */
export function minorOf(text, currency) {
  const digits = digitsOf(currency);
  const [, whole, part = ''] = /^(\d{1,13})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return null;
  const minor = Number(whole + part.padEnd(digits, '0'));
  return minor <= MOST_MINOR ? minor : null;
}

/** An amount in the format that users type. */
export function majorOf(minor, currency) {
  const digits = digitsOf(currency);
  const text = String(minor).padStart(digits + 1, '0');
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

/** Whole seconds of a number of minutes; null if invalid. */
export function secondsOf(minutes) {
  if (!/^\d{1,7}(?:[.,]\d{1,4})?$/.test(minutes.trim())) return null;
  const seconds = Number(minutes.trim().replace(',', '.')) * 60;
  return Math.abs(seconds - Math.round(seconds)) < 0.01 ? Math.round(seconds) : null;
}

export const minutesOf = (seconds) => String(Number((seconds / 60).toFixed(4)));

/** An id made from a title. Empty if the title has no Latin letters. */
export function idOf(title) {
  return title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/ß/g, 'ss')
    .replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 48).replace(/-+$/, '');
}

/** The default gate of a sale. */
const USUAL_GATE = { challenge: 'any', work_bits: 20, groups_see: [], groups_buy: [] };
const MOST_LANES = 16;

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);

/** The form of a new sale. */
export function blank(now) {
  const zone = ownZone();
  const next = Math.ceil((now + HOUR_MS) / HOUR_MS) * HOUR_MS;
  return {
    kind: 'units', title: '', sale_id: '', description: '', pictures: '', terms_url: '', currency: 'EUR', price: '', list_price: '', total: '100',
    expected_audience: '', amount: '100.00', min: '0.01', parts: 'drawn', prizes: '', draw: 'instant', beacon: 'no',
    zone, opens: localOf(next, zone), closes: localOf(next + HOUR_MS, zone), again: 'no',
    limit: '1', window: '15', settlement: 'paid', early: 'no', group: '', lead: '10', quota: '0', quota_for: '10',
    rain: 'no', at_once: '10', every_units: '5', every_s: '60', drops: '',
    line: 'no', opens_early: '60', admits: '100', lanes: '1',
    violations: '10', violation_window: '10', blocked_for: '60', unpaid_limit: '3', planned: '',
    challenge: 'any', work_bits: '20', groups_see: '', groups_buy: '',
  };
}

/** The form of an existing sale, with its own terms or with those of its future rounds. */
export function formOf(sale) {
  const { allocation = { kind: 'units' }, currency, recurrence, early_access: [first] = [], rain, line, door = {} } = sale;
  const { violations = 10, violation_window_s: window = 600, blocked_for_s: blocked = 3_600, unpaid_limit: unpaid = 3, planned_requests_per_s: planned } = door;
  const gate = { ...USUAL_GATE, ...sale.gate };
  const zone = recurrence?.time_zone ?? ownZone();
  return {
    ...blank(0), kind: allocation.kind, title: sale.title, sale_id: sale.sale_id, description: sale.description ?? '',
    pictures: (sale.pictures ?? []).join('\n'), terms_url: sale.terms_url ?? '', currency,
    price: majorOf(sale.price_minor, currency), list_price: sale.list_price_minor === undefined ? '' : majorOf(sale.list_price_minor, currency),
    total: String(sale.total), expected_audience: String(sale.expected_audience ?? ''),
    zone, opens: localOf(Date.parse(sale.opens_at), zone), closes: localOf(Date.parse(sale.closes_at), zone), again: recurrence ? 'yes' : 'no',
    limit: String(sale.per_user_limit), window: minutesOf(sale.payment_window_s), settlement: sale.settlement ?? 'paid',
    beacon: allocation.beacon ? 'yes' : 'no', lanes: String(sale.lanes ?? 1),
    ...(allocation.kind === 'split' && {
      amount: majorOf(allocation.total_minor, currency), min: majorOf(allocation.min_minor, currency), parts: allocation.parts,
    }),
    ...(allocation.kind === 'prizes' && {
      prizes: allocation.prizes.map(({ name, count }) => `${count} ${name}`).join('\n'), draw: allocation.draw ?? 'instant',
    }),
    ...(first && {
      early: 'yes', group: first.group, lead: minutesOf(first.lead_s), quota: String(first.quota?.units ?? 0), quota_for: minutesOf(first.quota?.for_s ?? 600),
    }),
    ...(rain && {
      rain: 'yes', at_once: String(rain.at_once ?? 0), every_units: String(rain.steady?.units ?? 0), every_s: String(rain.steady?.every_s ?? 60),
      drops: (rain.drops ?? []).map(({ after_s: after, units }) => `${after} ${units}`).join('\n'),
    }),
    ...(line && { line: 'yes', opens_early: minutesOf(line.opens_early_s), admits: String(line.admits_per_s) }),
    violations: String(violations), violation_window: minutesOf(window), blocked_for: minutesOf(blocked), unpaid_limit: String(unpaid), planned: String(planned ?? ''),
    challenge: gate.challenge, work_bits: String(gate.work_bits), groups_see: gate.groups_see.join(' '), groups_buy: gate.groups_buy.join(' '),
  };
}

/** Reads the form: `{terms, errors}`; `errors` has the words' key for each unreadable field. */
export function read(form) {
  const errors = {};
  const wrong = (name, why) => {
    errors[name] ??= `op.wrong.${why}`;
    return undefined;
  };
  const text = (name) => form[name].trim();
  const whole = (name, least, most) => {
    const value = /^\d{1,12}$/.test(text(name)) ? Number(text(name)) : NaN;
    return value >= least && value <= most ? value : wrong(name, 'whole');
  };
  const seconds = (name, least, most) => {
    const value = secondsOf(form[name]);
    return value !== null && value >= least && value <= most ? value : wrong(name, 'minutes');
  };
  const { currency } = form;
  const money = (name) => minorOf(form[name], currency) ?? wrong(name, digitsOf(currency) ? 'money' : 'money_whole');
  const moment = (name) => {
    const at = instantOf(form[name], form.zone);
    return at === null ? wrong(name, form[name] ? 'leapt' : 'moment') : at;
  };
  const groups = (name) => {
    const all = form[name].split(/[\s,]+/).filter(Boolean);
    if (all.length > 4 || !all.every((one) => GROUP.test(one))) wrong(name, 'groups');
    return all;
  };
  if (!text('title')) wrong('title', 'empty');
  if (!ID.test(form.sale_id)) wrong('sale_id', 'id');
  if (!/^[A-Z]{3}$/.test(currency)) wrong('currency', 'currency');
  if (!isZone(form.zone)) wrong('zone', 'zone');
  const [opens, closes] = isZone(form.zone) ? [moment('opens'), moment('closes')] : [];
  if (opens !== undefined && closes !== undefined && closes <= opens) wrong('closes', 'turned');
  const isUnits = form.kind === 'units';
  const isFree = !isUnits || form.settlement === 'free';
  const total = whole('total', 1, isUnits ? 10_000_000 : 1_000_000);
  const terms = {
    sale_id: form.sale_id, title: text('title'), description: form.description.trim(), pictures: lines(form.pictures),
    terms_url: text('terms_url') || null, list_price_minor: !isFree && text('list_price') ? money('list_price') : null,
    expected_audience: text('expected_audience') ? whole('expected_audience', 1, 100_000_000) : null,
    currency, price_minor: isFree ? 0 : money('price'), total,
    opens_at: iso(opens), closes_at: iso(closes),
    recurrence: form.again === 'yes' ? { every: 'day', time_zone: form.zone } : null,
    per_user_limit: isUnits ? whole('limit', 1, 20) : 1,
    payment_window_s: isFree ? 900 : seconds('window', 5, 86_400),
    settlement: isFree ? 'free' : 'paid',
    allocation: allocation(form, { money, wrong }),
    early_access: form.early === 'yes' && isUnits ? early(form, { whole, seconds, wrong }) : [],
    rain: form.rain === 'yes' && isUnits ? rain(form, { whole, wrong }) : null,
    line: form.line === 'yes' ? { opens_early_s: seconds('opens_early', 1, 86_400), admits_per_s: whole('admits', 1, 100_000) } : null,
    lanes: whole('lanes', 1, MOST_LANES),
    door: {
      violations: whole('violations', 1, 100), violation_window_s: seconds('violation_window', 1, 86_400), blocked_for_s: seconds('blocked_for', 1, 2_678_400),
      unpaid_limit: whole('unpaid_limit', 1, 255), ...(text('planned') ? { planned_requests_per_s: whole('planned', 1, 100_000) } : {}),
    },
    gate: {
      challenge: form.challenge, work_bits: ['any', 'work'].includes(form.challenge) ? whole('work_bits', 12, 24) : USUAL_GATE.work_bits,
      groups_see: isUnits ? groups('groups_see') : [], groups_buy: groups('groups_buy'),
    },
  };
  // Excluded: what counts all units in one place, and what would let some users in before or past a line.
  const inOnePlace = terms.rain || terms.early_access.some(({ quota }) => quota) || terms.allocation.draw === 'at_end';
  if (terms.lanes > 1 && inOnePlace) wrong('lanes', 'one_lane');
  if (terms.line && terms.early_access.length > 0) wrong('line', 'line_early');
  else if (terms.line && terms.gate.groups_see.length > 0) wrong('line', 'line_hidden');
  const { price_minor: price, list_price_minor: list } = terms;
  if (Number.isInteger(price) && Number.isInteger(list) && list <= price) wrong('list_price', 'list_price');
  if (terms.pictures.length > 8) wrong('pictures', 'pictures');
  else if (terms.pictures.some((url) => !/^(https:\/\/|\/art\/)\S{1,400}$/.test(url))) wrong('pictures', 'picture');
  if (terms.terms_url && !/^https:\/\/\S{1,392}$/.test(terms.terms_url)) wrong('terms_url', 'url');
  if (terms.description.length > 2_000) wrong('description', 'long');
  return { terms, errors };
}

const iso = (ms) => (ms === undefined ? undefined : new Date(ms).toISOString());

function allocation(form, { money, wrong }) {
  const beacon = form.beacon === 'yes' ? { beacon: true } : {};
  if (form.kind === 'split') return { kind: 'split', total_minor: money('amount'), min_minor: money('min'), parts: form.parts, ...beacon };
  if (form.kind !== 'prizes') return { kind: 'units' };
  const prizes = lines(form.prizes).map((line) => {
    const [, count, name] = /^(\d{1,8})\s*[×x*]?\s+(.+)$/.exec(line) ?? [];
    return { name, count: Number(count) };
  });
  if (prizes.length === 0 || prizes.some(({ name, count }) => !name || count < 1)) wrong('prizes', 'prizes');
  return { kind: 'prizes', prizes, ...(form.draw === 'at_end' ? { draw: 'at_end' } : {}), ...beacon };
}

function early(form, { whole, seconds, wrong }) {
  if (!GROUP.test(form.group)) wrong('group', 'group');
  const quota = whole('quota', 0, 10_000_000);
  return [{
    group: form.group, lead_s: seconds('lead', 0, 604_800),
    ...(quota > 0 ? { quota: { units: quota, for_s: seconds('quota_for', 1, 2_678_400) } } : {}),
  }];
}

function rain(form, { whole, wrong }) {
  const drops = lines(form.drops).map((line) => {
    const [, after, units] = /^(\d{1,8})[\s:,;]+(\d{1,8})$/.exec(line) ?? [];
    return { after_s: Number(after), units: Number(units) };
  });
  if (drops.some(({ units }) => !(units > 0))) wrong('drops', 'drops');
  const units = whole('every_units', 0, 10_000_000);
  return {
    at_once: whole('at_once', 0, 10_000_000), ...(units > 0 ? { steady: { units, every_s: whole('every_s', 1, 86_400) } } : {}),
    ...(drops.length ? { drops } : {}),
  };
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The terms of a new sale. Empty fields are omitted, and so are a default gate and a single lane. */
export function created(terms) {
  const isEmpty = (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0) || same(value, USUAL_GATE);
  return Object.fromEntries(Object.entries(terms).filter(([name, value]) => !isEmpty(value) && !(name === 'lanes' && value === 1)));
}

/** The terms that a form changes; `before` is the original form. */
export function changes(form, before) {
  const [now, was] = [read(form).terms, read(before).terms];
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => name !== 'sale_id' && !same(value, was[name])));
}

/** The form after somebody else has changed the sale: untouched fields follow, changed ones stay. Also returns the fields that both changed. */
export function merged(form, before, now) {
  const both = Object.keys(form).filter((name) => form[name] !== before[name] && now[name] !== before[name] && form[name] !== now[name]);
  const values = Object.fromEntries(Object.keys(form).map((name) => [name, form[name] === before[name] ? now[name] : form[name]]));
  return { values, both };
}

/** The form's fields, by those of the system's names that differ from them. */
const FIELDS = {
  list_price_minor: 'list_price', price_minor: 'price', opens_at: 'opens', closes_at: 'closes', recurrence: 'again', time_zone: 'zone',
  per_user_limit: 'limit', payment_window_s: 'window', allocation: 'kind', prize: 'prizes', total_minor: 'amount', min_minor: 'min',
  early_access: 'group', rain: 'at_once', drop: 'drops', door: 'violations', violation_window_s: 'violation_window', blocked_for_s: 'blocked_for',
  planned_requests_per_s: 'planned', gate: 'challenge', opens_early_s: 'opens_early', admits_per_s: 'admits',
};

/** The fields that a problem names, each with the system's words. */
export function blamed({ code, members }) {
  if (code === 'sale_exists') return { sale_id: null };
  const form = blank(0);
  const told = members.errors ?? (members.detail ? [{ field: members.detail, detail: members.detail }] : []);
  return Object.fromEntries(told.flatMap(({ field, detail }) => {
    const names = field.match(/[a-z_]+/g) ?? [];
    // In a path such as `door.violations`, the last name says most; in a sentence, the first one counts.
    const path = members.errors ? names.reverse() : /^[a-z_.]+/.exec(field)?.[0].split('.').reverse() ?? [];
    const name = path.map((one) => FIELDS[one] ?? (Object.hasOwn(form, one) ? one : null)).find(Boolean);
    return name ? [[name, detail]] : [];
  }));
}
