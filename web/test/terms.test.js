// How the editor reads its input, without a browser.

import { describe, expect, test } from 'vitest';
import { blamed, blank, changes, created, formOf, idOf, majorOf, merged, minorOf, minutesOf, read, secondsOf } from '../js/operators/terms.js';
import { instantOf, isZone, localOf } from '../js/operators/zone.js';

describe('money', () => {
  test.each([
    ['9.90', 'EUR', 990], ['9,9', 'EUR', 990], ['0', 'EUR', 0], ['10000000000', 'EUR', 1_000_000_000_000], ['980', 'JPY', 980], ['1.234', 'KWD', 1_234],
  ])('%s %s', (text, currency, minor) => {
    expect(minorOf(text, currency)).toBe(minor);
    expect(minorOf(majorOf(minor, currency), currency)).toBe(minor);
  });

  // 1,000 may be one or a thousand.
  test.each([['1,000', 'EUR'], ['9.999', 'EUR'], ['9.9', 'JPY'], ['-1', 'EUR'], ['1e3', 'EUR'], ['', 'EUR'], ['10000000000.01', 'EUR']])('%s %s is invalid', (text, currency) => {
    expect(minorOf(text, currency)).toBe(null);
  });

  test('is written with its currency\'s digits', () => {
    expect([majorOf(990, 'EUR'), majorOf(5, 'EUR'), majorOf(980, 'JPY'), majorOf(1_234, 'KWD')]).toEqual(['9.90', '0.05', '980', '1.234']);
  });
});

test('minutes are whole seconds', () => {
  expect(['15', '0.5', '0,25', '1.0167'].map(secondsOf)).toEqual([900, 30, 15, 61]);
  expect(['', 'x', '-1', '0.011'].map(secondsOf)).toEqual([null, null, null, null]);
  for (const seconds of [1, 5, 59, 61, 900, 86_399]) expect(secondsOf(minutesOf(seconds))).toBe(seconds);
});

test('an id is made from a title', () => {
  expect(idOf('Enamel pendant lamp, 2nd edition!')).toBe('enamel-pendant-lamp-2nd-edition');
  expect(idOf('Straße & Café')).toBe('strasse-cafe');
  expect(idOf('晨光')).toBe('');
  expect(idOf(`${'x'.repeat(47)} y`)).toBe('x'.repeat(47));
});

describe('times of a zone', () => {
  test.each([
    ['2026-11-24T10:00', 'Europe/Berlin', '2026-11-24T09:00:00.000Z'], ['2026-07-01T00:00', 'Asia/Shanghai', '2026-06-30T16:00:00.000Z'],
    ['2026-01-01T00:00', 'Asia/Kathmandu', '2025-12-31T18:15:00.000Z'], ['2026-01-01T12:00', 'Pacific/Kiritimati', '2025-12-31T22:00:00.000Z'],
    // Of an hour that occurs twice, the first one counts.
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ])('%s %s', (text, zone, at) => {
    expect(new Date(instantOf(text, zone)).toISOString()).toBe(at);
    expect(localOf(Date.parse(at), zone)).toBe(text);
  });

  test('an hour that the clocks skip is invalid', () => {
    expect(instantOf('2026-03-29T02:30', 'Europe/Berlin')).toBe(null);
    expect(instantOf('', 'UTC')).toBe(null);
    expect([isZone('Europe/Berlin'), isZone('Europe/Atlantis'), isZone('')]).toEqual([true, false, false]);
  });
});

const typed = () => ({ ...blank(Date.parse('2026-11-24T09:10:00Z')), zone: 'UTC', opens: '2026-11-24T11:00', closes: '2026-11-24T12:00', title: 'Lamp', sale_id: 'lamp', price: '9.90' });

test('a new sale is sent without empty fields', () => {
  const { terms, errors } = read(typed());
  expect(errors).toEqual({});
  expect(created(terms)).toEqual({
    sale_id: 'lamp', title: 'Lamp', currency: 'EUR', price_minor: 990, total: 100, opens_at: '2026-11-24T11:00:00.000Z', closes_at: '2026-11-24T12:00:00.000Z',
    per_user_limit: 1, payment_window_s: 900, settlement: 'paid', allocation: { kind: 'units' },
    door: { violations: 10, violation_window_s: 600, blocked_for_s: 3_600, unpaid_limit: 3 },
  });
});

test('all errors are reported at once, each at its field', () => {
  const { errors } = read({
    ...typed(), title: ' ', sale_id: 'Lamp!', price: '9.999', total: '0', closes: '2026-11-24T10:00', window: 'soon', list_price: '1,000', pictures: 'http://a.example/',
    terms_url: 'http://a.example', early: 'yes', group: 'no group', expected_audience: '0',
  });
  expect(Object.keys(errors).sort()).toEqual(['closes', 'expected_audience', 'group', 'list_price', 'pictures', 'price', 'sale_id', 'terms_url', 'title', 'total', 'window']);
  expect(read({ ...typed(), list_price: '9.90' }).errors).toEqual({ list_price: 'op.wrong.list_price' });
});

test('reading a sale into the form changes nothing', () => {
  const sale = {
    ...created(read({ ...typed(), description: 'Green.\n\nWarm.', pictures: '/art/lamp.svg', list_price: '12', terms_url: 'https://a.example/terms', early: 'yes', group: 'members', quota: '5', quota_for: '10', again: 'yes', zone: 'Europe/Berlin' }).terms),
    // The form shows whole minutes.
    opens_at: '2026-11-24T10:00:07.123Z',
  };
  expect(changes(formOf(sale), formOf(sale))).toEqual({});
  expect(changes({ ...formOf(sale), title: 'Better', list_price: '', price: '8.90' }, formOf(sale))).toEqual({ title: 'Better', list_price_minor: null, price_minor: 890 });
  const rains = { ...created(read({ ...typed(), rain: 'yes', drops: '600 50' }).terms) };
  expect(rains.rain).toEqual({ at_once: 10, steady: { units: 5, every_s: 60 }, drops: [{ after_s: 600, units: 50 }] });
  expect(changes(formOf(rains), formOf(rains))).toEqual({});
});

test('a line and lanes are read, and refused where they are not allowed', () => {
  const form = { ...typed(), line: 'yes', opens_early: '30', admits: '500', lanes: '8' };
  const { terms, errors } = read(form);
  expect(errors).toEqual({});
  expect(created(terms)).toMatchObject({ line: { opens_early_s: 1_800, admits_per_s: 500 }, lanes: 8 });
  expect(changes(formOf(terms), formOf(terms))).toEqual({});
  expect(changes({ ...formOf(terms), admits: '50', lanes: '1' }, formOf(terms))).toEqual({ line: { opens_early_s: 1_800, admits_per_s: 50 }, lanes: 1 });
  expect(changes({ ...formOf(terms), line: 'no' }, formOf(terms))).toEqual({ line: null });
  expect(read({ ...form, lanes: '17', admits: '0' }).errors).toEqual({ lanes: 'op.wrong.whole', admits: 'op.wrong.whole' });
  const early = { early: 'yes', group: 'members' };
  expect(read({ ...form, rain: 'yes' }).errors).toEqual({ lanes: 'op.wrong.one_lane' });
  expect(read({ ...form, ...early, quota: '5' }).errors).toEqual({ lanes: 'op.wrong.one_lane', line: 'op.wrong.line_early' });
  expect(read({ ...form, groups_see: 'members', groups_buy: 'members' }).errors).toEqual({ line: 'op.wrong.line_hidden' });
  expect(blamed({ code: 'invalid_request', members: { errors: [{ field: 'line.admits_per_s', detail: 'a' }, { field: 'lanes', detail: 'b' }] } })).toEqual({ admits: 'a', lanes: 'b' });
});

test('another operator\'s changes are applied to untouched fields', () => {
  const before = typed();
  const mine = { ...before, title: 'Mine', price: '8.00' };
  const theirs = { ...before, title: 'Theirs', total: '50' };
  expect(merged(mine, before, theirs)).toEqual({ values: { ...before, title: 'Mine', price: '8.00', total: '50' }, both: ['title'] });
});

test('problems name their fields, in a list or at the start of their text', () => {
  const invalid = (members) => blamed({ code: 'invalid_request', members });
  expect(invalid({ errors: [{ field: 'title', detail: 'a' }, { field: 'door.violation_window_s', detail: 'b' }] })).toEqual({ title: 'a', violation_window: 'b' });
  expect(invalid({ detail: 'closes_at must be after opens_at' })).toEqual({ closes: 'closes_at must be after opens_at' });
  expect(invalid({ detail: 'door.violations must be 1 to 100' })).toEqual({ violations: 'door.violations must be 1 to 100' });
  expect(invalid({ detail: 'the body is not UTF-8' })).toEqual({});
  expect(blamed({ code: 'sale_exists', members: {} })).toEqual({ sale_id: null });
});
