// The client in a sale with a line, without a system: answers are made up, and time passes when the test says so.

import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ticketFor } from '../../web/test/dev/lines.js';
import { atRoot } from '../bin/files.js';
import {
  type BuyOptions,
  type FlashSaleClient,
  type InLine,
  type LineDocument,
  NoAnswerError,
  type PurchaseState,
} from '../typescript/src/index.ts';
import { admits, before as ahead, commitmentOf, placePpb, rankOfEarly, readTicket, rounded, waitS } from '../typescript/src/place.js';
import { type Answer, all, answered, json, passing, problem, statuses } from './answers.js';

const vectors = JSON.parse(readFileSync(atRoot('shared/pass/line_vectors.json'), 'utf8'));

const SEED = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
/** Of the user `alice` with this seed, from the vectors. */
const ALICE_PPB = 430_874_211;
const NOW = Date.parse('2026-11-24T09:00:10Z');
const OPENS_AT = '2026-11-24T09:00:00Z';
const ID = 'lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff';

/** A ticket whose seal nobody here checks. */
const ticketOf = ({ user = 'alice', round = 1, second = null as number | null }) => ticketFor(user, round, second);
const EARLY = ticketOf({});

type Changes = Partial<Omit<LineDocument, 'admitted' | 'units'>> & {
  admitted?: Partial<LineDocument['admitted']>;
  units?: Partial<LineDocument['units']>;
};

/** A line that moves and has not reached anybody. */
function line({ admitted, units, ...more }: Changes = {}): LineDocument {
  return {
    sale: 'lamp',
    round: 1,
    state: 'moving',
    commitment: commitmentOf('lamp', more.round ?? 1, SEED),
    seed: SEED,
    opens_at: OPENS_AT,
    tickets_from: '2026-11-24T08:00:00Z',
    people: { estimate: 10_000, error_percent: 2, late: 0 },
    admitted: { early_ppb: 0, late_until: null, late_ppb: 0, late: 0, per_s: 100, as_of: new Date(Date.now()).toISOString(), ...admitted },
    units: { total: 100, sold: 0, may_return: 0, ...units },
    poll_after_ms: 2_000,
    watermark: 'W'.repeat(60),
    ...more,
  };
}
const notOpen = (more: Changes = {}) => line({ state: 'before', seed: null, watermark: null, ...more });
const reached = (ppb: number, watermark = 'A'.repeat(60)) => line({ admitted: { early_ppb: ppb }, watermark });

const UNASKED = () => json(201, { challenge_id: 'c', kind: 'none', kinds: ['none'], expires_at: OPENS_AT });
const PASSED = () => json(201, { token: 'A'.repeat(63), expires_at: OPENS_AT, reserve_path: '/' });
const ticketAnswer = (ticket: string) =>
  json(201, { ticket, sale_id: 'lamp', round: 1, class: 'early', opens_at: OPENS_AT, line_path: '/v1/sales/lamp/line' });

type Answers = { line: (Response | Error | LineDocument)[]; ticket?: Answer[]; challenge?: Answer[]; answer?: Answer[] };

/** A system whose line answers from a list, the last one for good. Requests for challenges need the watermark that it expects. */
function system({ line, ...answers }: Answers) {
  const lines = line.map((one) => (one instanceof Response || one instanceof Error ? one : json(200, one)));
  const last = lines.pop() as Response;
  return answered(
    { ...answers, line: lines },
    {
      ticket: () => ticketAnswer(EARLY),
      line: () => last.clone(),
      challenge: ({ headers }) => {
        if (!headers.has('x-line-ticket')) return problem(403, 'no_ticket', {}, { 'retry-after': '2' });
        if (!headers.has('x-line-watermark')) return problem(409, 'not_your_turn', {}, { 'retry-after': '2' });
        return UNASKED();
      },
      answer: ({ headers }) => (headers.has('x-line-watermark') ? PASSED() : problem(409, 'not_your_turn')),
      reserve: () => json(202, { reservation_id: ID, status: 'queued' }),
      look: () => json(200, { reservation_id: ID, status: 'paid', unit: 7, reserved_at: OPENS_AT, ended_at: OPENS_AT }),
    },
  );
}

const buy = (client: FlashSaleClient, options: BuyOptions = {}) => passing(all(client.buy('lamp', options)), 100);
const waits = (states: PurchaseState[]) => states.filter((state): state is InLine => state.status === 'in_line');
const BOUGHT = ['challenged', 'admitted', 'queued', 'paid'];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('places', () => {
  test('match the first implementation', () => {
    expect(vectors.rounds.length).toBe(3);
    for (const { sale, round, seed, commitment, places } of vectors.rounds) {
      expect(commitmentOf(sale, round, seed)).toBe(commitment);
      for (const { user, ppb } of places) expect([user, placePpb(seed, user)]).toEqual([user, ppb]);
    }
  });

  test('have the same ranges', () => {
    expect(vectors.ranges.length).toBe(30);
    const pair = ([from, to]: [number, number]) => ({ from, to });
    for (const { ppb, people, rank, admitted, per_s: perS, wait_s: wait } of vectors.ranges) {
      expect(rankOfEarly(ppb, people, 2)).toEqual(pair(rank));
      expect(waitS(pair(rank), pair(admitted), perS)).toEqual(wait && pair(wait));
    }
    expect(waitS({ from: 1, to: 2 }, { from: 0, to: 0 }, 0)).toBe(null);
  });

  test('tickets name their user, and watermarks admit the same people', () => {
    const { tickets, watermarks, order_seed: seed, round } = vectors.seals;
    expect([tickets.length, watermarks.length > 2]).toEqual([10, true]);
    for (const { ticket, user, late_second: second } of tickets) expect(readTicket(ticket)).toEqual({ round, user, second });
    for (const text of ['', 'AQ', '%%', tickets[0].ticket.replace('A', 'B')]) expect(readTicket(text)).toBe(null);
    const users = [...new Set<string>(tickets.map(({ user }: { user: string }) => user))];
    for (const { early_ppb, late_s: lateS, late_ppb, early_admitted: early, late_admitted: late } of watermarks) {
      const { admitted } = line({ admitted: { early_ppb, late_until: lateS ? new Date(lateS * 1000).toISOString() : null, late_ppb } });
      const { late_second: second } = tickets.find((one: { late_second: number | null }) => one.late_second !== null);
      const those = (when: number | null) => users.filter((user) => admits(admitted, { second: when }, placePpb(seed, user)));
      expect(those(null)).toEqual(early);
      expect(those(second)).toEqual(late);
    }
  });

  test('the number of people ahead is a range that narrows as the line moves', () => {
    const people = { estimate: 1_000_000, error_percent: 2, late: 500 };
    const at = (early_ppb: number, late = 0) => line({ people, admitted: { early_ppb, late } });
    const early = { second: null };
    expect(ahead(at(0), early, 48_000_000)).toEqual(rankOfEarly(48_000_000, 1_000_000, 2));
    expect(ahead(at(47_000_000), early, 48_000_000)).toEqual(rankOfEarly(1_000_000, 1_000_000, 2));
    expect(ahead(at(48_000_000), early, 48_000_000)).toEqual({ from: 0, to: 0 });
    expect(ahead(at(1_000_000_000), { second: 7 }, 1, 40)).toEqual({ from: 0, to: 40 });
    expect(ahead(at(1_000_000_000, 15), { second: 7 }, 1, 40)).toEqual({ from: 0, to: 25 });
    expect(rounded({ from: 46_912, to: 49_088 })).toEqual({ from: 46_900, to: 49_100 });
    expect(rounded({ from: 3, to: 9 })).toEqual({ from: 3, to: 9 });
  });
});

describe('a purchase in a sale with a line', () => {
  test('waits from before the opening until its turn, at the pace of the line', async () => {
    const before = notOpen({ poll_after_ms: 30_000 });
    const { client, of } = system({ line: [before, line(), reached(100_000_000), reached(ALICE_PPB + 1, 'T'.repeat(60))] });
    const states = await buy(client);
    expect(statuses(states)).toEqual(['in_line', 'in_line', 'in_line', 'in_line', ...BOUGHT]);
    expect(of('ticket')).toHaveLength(1);
    const [, unopened, first, second] = waits(states);
    expect(unopened).toMatchObject({ ticket: EARLY, place: null, ahead: null, wait_s: null });
    // 43 % of 10,000 people are ahead, and then 33 %.
    expect((first as InLine).ahead?.from).toBeLessThanOrEqual(4_309);
    expect((first as InLine).ahead?.to).toBeGreaterThanOrEqual(4_308);
    expect((first as InLine).place?.from).toBeLessThanOrEqual(4_309);
    expect((second as InLine).ahead?.to).toBeLessThan(3_600);
    expect((second as InLine).wait_s?.from).toBeGreaterThanOrEqual(29);
    const [at0, at1, at2] = of('line').map(({ at }) => at) as [number, number, number];
    expect(at1 - at0).toBeGreaterThanOrEqual(30_000);
    expect(at2 - at1).toBeGreaterThanOrEqual(2_000);
    // Places are computed in real time, but not before the opening.
    expect(at1 - at0).toBeLessThanOrEqual(30_000 * 1.25 + 1_000);
    const last = of('challenge').at(-1)?.request.headers;
    expect([last?.get('x-line-ticket'), last?.get('x-line-watermark')]).toEqual([EARLY, 'T'.repeat(60)]);
    expect(of('answer')[0]?.request.headers.get('x-line-watermark')).toBe('T'.repeat(60));
    expect(of('reserve')[0]?.request.headers.has('x-line-watermark')).toBe(false);
  });

  test('asks for no challenge before its turn, if it knows of the line or has a ticket', async () => {
    for (const options of [{ line: true }, { ticket: EARLY }]) {
      const { client, of } = system({ line: [line(), reached(ALICE_PPB + 1)] });
      expect(statuses(await buy(client, options)).slice(-4)).toEqual(BOUGHT);
      expect(of('challenge')).toHaveLength(1);
      expect(of('ticket')).toHaveLength('line' in options ? 1 : 0);
    }
  });

  test('is not over because nobody answers for a while', async () => {
    const away = Array.from({ length: 40 }, () => new TypeError('fetch failed'));
    const { client } = system({ line: [line(), ...away, problem(503, 'overloaded'), reached(ALICE_PPB + 1)] });
    expect(statuses(await buy(client)).slice(-4)).toEqual(BOUGHT);
    expect(Date.now() - NOW).toBeGreaterThan(120_000);
  });

  test('waits for its ticket while nobody answers, once there was an answer', async () => {
    const away = () => Array.from({ length: 40 }, () => new TypeError('fetch failed'));
    const from = new Date(NOW + 60_000).toISOString();
    const early = problem(409, 'not_open', { opens_at: from }, { 'retry-after': '60' });
    const { client } = system({ ticket: [early, ...away(), problem(503, 'overloaded')], line: [reached(ALICE_PPB + 1)] });
    expect(statuses(await buy(client, { line: true }))).toEqual(['awaiting_tickets', 'in_line', ...BOUGHT]);
    expect(Date.now() - NOW).toBeGreaterThan(180_000);
    const never = system({ ticket: away(), line: [line()] });
    await expect(buy(never.client, { line: true })).rejects.toThrow(NoAnswerError);
  });

  test('waits for tickets, and then not all clients at once', async () => {
    const from = new Date(NOW + 60_000).toISOString();
    const early = () => problem(409, 'not_open', { opens_at: from }, { 'retry-after': '60' });
    const opens = new Date(NOW + 3_600_000).toISOString();
    const asked = [];
    for (let n = 0; n < 8; n += 1) {
      vi.setSystemTime(NOW);
      const { client, of } = system({ ticket: [early()], line: [notOpen({ opens_at: opens }), reached(ALICE_PPB + 1)] });
      const states = await buy(client, { line: true });
      expect(states[0]).toEqual({ status: 'awaiting_tickets', tickets_from: from });
      expect(statuses(states).slice(-4)).toEqual(BOUGHT);
      asked.push((of('ticket')[1]?.at as number) - NOW);
    }
    expect(Math.min(...asked)).toBeGreaterThanOrEqual(60_000);
    expect(Math.max(...asked)).toBeLessThanOrEqual(121_000);
    expect(Math.max(...asked) - Math.min(...asked)).toBeGreaterThan(1_000);
  });

  test('goes back to the line if the system refuses its turn, and takes a watermark that holds', async () => {
    const refusals = [
      problem(409, 'not_your_turn', { line_path: '/' }, { 'retry-after': '7' }),
      problem(400, 'invalid_request', { detail: 'x-line-watermark: too old; take the watermark from the current line document' }),
    ];
    const lines = [reached(ALICE_PPB + 1, 'O'.repeat(60)), reached(ALICE_PPB + 2, 'N'.repeat(60))];
    const { client, of } = system({ line: lines, challenge: refusals });
    expect(statuses(await buy(client, { ticket: EARLY })).slice(-4)).toEqual(BOUGHT);
    const [first, second, third] = of('challenge');
    expect((second?.at as number) - (first?.at as number)).toBeGreaterThanOrEqual(7_000);
    expect(first?.request.headers.get('x-line-watermark')).toBe('O'.repeat(60));
    expect(third?.request.headers.get('x-line-watermark')).toBe('N'.repeat(60));
  });

  test('is not sent back for ever', async () => {
    const refused = Array.from({ length: 30 }, () => problem(409, 'not_your_turn', {}, { 'retry-after': '1' }));
    const { client, of } = system({ line: [reached(ALICE_PPB + 1)], challenge: refused });
    await expect(buy(client, { ticket: EARLY })).rejects.toMatchObject({ code: 'not_your_turn' });
    expect(of('challenge')).toHaveLength(11);
  });

  test('gets a ticket for the next round, and again after a pause while the new one is of no use either', async () => {
    const next = ticketOf({ round: 2 });
    const second = line({ round: 2, admitted: { early_ppb: ALICE_PPB + 1 } });
    // A process that has not heard of the second round yet.
    const stale = [ticketAnswer(EARLY), ticketAnswer(EARLY)];
    const { client, of } = system({ ticket: [...stale, ticketAnswer(next)], line: [line(), second] });
    expect(statuses(await buy(client, { ticket: EARLY })).slice(-4)).toEqual(BOUGHT);
    const [at0, at1, at2] = of('ticket').map(({ at }) => at) as [number, number, number];
    expect([at1 - at0 >= 2_000, at2 - at1 >= 2_000]).toEqual([true, true]);
    expect(of('challenge')[0]?.request.headers.get('x-line-ticket')).toBe(next);
  });

  test('says so if it cannot read its ticket', async () => {
    const { client, of } = system({ ticket: [ticketAnswer(EARLY.replace(/^AQ/, 'Ag'))], line: [line()] });
    await expect(buy(client, { line: true })).rejects.toThrow('later version');
    expect(of('ticket')).toHaveLength(1);
  });

  test('becomes early if the opening is postponed past its moment', async () => {
    const late = ticketOf({ second: NOW / 1_000 });
    const { client, of } = system({ line: [notOpen({ opens_at: '2026-11-24T10:00:00Z' }), reached(ALICE_PPB + 1)] });
    expect(statuses(await buy(client, { ticket: late })).slice(-4)).toEqual(BOUGHT);
    expect(of('ticket')).toHaveLength(1);
    expect(of('challenge')[0]?.request.headers.get('x-line-ticket')).toBe(EARLY);
  });

  test('late people wait for all early ones, and for the late ones before them', async () => {
    const second = NOW / 1_000;
    const people = { estimate: 1_000, error_percent: 0, late: 400 };
    const as_of = new Date(NOW + 5_000).toISOString();
    const half = line({ people, admitted: { early_ppb: 500_000_000, as_of } });
    const passed = { early_ppb: 1e9, late: 100, late_until: new Date(NOW - 5_000).toISOString(), as_of };
    const more = line({ people: { ...people, late: 9_000 }, admitted: passed });
    const there = line({ people, admitted: { ...passed, late_until: new Date(NOW + 1_000).toISOString() } });
    const { client } = system({ line: [half, more, there] });
    const states = await buy(client, { ticket: ticketOf({ second }) });
    expect(statuses(states)).toEqual(['in_line', 'in_line', ...BOUGHT]);
    const [first, then] = waits(states) as [InLine, InLine];
    expect(first.place).toBeNull();
    expect(first.ahead?.to).toBeGreaterThanOrEqual(900);
    // 300 of the 400 are left, whoever came after them.
    expect(then.ahead).toEqual({ from: 0, to: 300 });
  });

  test('a line never goes back, and a changed commitment is told', async () => {
    const at = (ms: number, early_ppb: number, more: Changes = {}) =>
      line({ admitted: { early_ppb, as_of: new Date(NOW + ms).toISOString() }, ...more });
    const other = at(60_000, 150_000_000, { commitment: 'd'.repeat(64) });
    const { client } = system({ line: [at(9_000, 200_000_000), at(0, 100_000_000), other, at(90_000, ALICE_PPB + 1)] });
    const heard = waits(await buy(client, { ticket: EARLY }));
    expect(heard.map((state) => state.line?.admitted.early_ppb)).toEqual([200_000_000, 200_000_000, 200_000_000]);
    expect(heard.map((state) => state.commitment_changed)).toEqual([false, false, true]);
  });

  test('a seed that is not the one committed to is told, also to whoever need not wait any longer', async () => {
    const seed = '5a'.repeat(32);
    const { client } = system({ line: [notOpen(), line({ seed }), line({ seed, admitted: { early_ppb: 1e9 } })] });
    const states = await buy(client, { ticket: EARLY });
    expect(waits(states).map((state) => state.commitment_changed)).toEqual([false, true, true]);
    expect(statuses(states).slice(-4)).toEqual(BOUGHT);
    const gone = line({ seed, state: 'sold_out', units: { total: 100, sold: 100, may_return: 0 } });
    const late = system({ line: [notOpen(), gone] });
    const heard = await buy(late.client, { ticket: EARLY });
    expect(waits(heard).map((state) => state.commitment_changed)).toEqual([false, true]);
    expect(heard.at(-1)).toMatchObject({ status: 'refused', refusal: { code: 'sold_out' } });
  });

  test('a seed that nobody can read is told as another order, and gives no place', async () => {
    for (const seed of ['5a'.repeat(31), SEED.toUpperCase(), `${SEED}\n`, '']) {
      const { client } = system({ line: [line({ seed, admitted: { early_ppb: 1e9 } }), line({ state: 'ended' })] });
      const states = await buy(client, { ticket: EARLY });
      expect(waits(states)).toMatchObject([{ commitment_changed: true, place: null, ahead: null, wait_s: null }]);
      expect(statuses(states)).toEqual(['in_line', 'refused']);
    }
  });

  test('sold out: waits while units may return, and ends once none can', async () => {
    const some = line({ state: 'sold_out', units: { total: 100, sold: 100, may_return: 100 } });
    const gone = line({ state: 'sold_out', units: { total: 100, sold: 100, may_return: 0 }, poll_after_ms: 60_000 });
    const { client, of } = system({ line: [some, some, gone] });
    const states = await buy(client, { ticket: EARLY });
    expect(statuses(states)).toEqual(['in_line', 'in_line', 'refused']);
    expect(states.at(-1)).toMatchObject({ refusal: { code: 'sold_out', status: 409 } });
    expect(of('challenge')).toHaveLength(0);
    const over = system({ line: [line({ state: 'ended', poll_after_ms: 0 })] });
    expect((await buy(over.client, { ticket: EARLY })).at(-1)).toMatchObject({ refusal: { code: 'closed' } });
  });

  test('whoever is at the front hears of it from the document that also says sold out', async () => {
    const over = line({ state: 'sold_out', admitted: { early_ppb: 1e9 }, units: { total: 1, sold: 1, may_return: 0 } });
    const { client } = system({ line: [over], challenge: [problem(409, 'sold_out')] });
    expect(statuses(await buy(client, { ticket: EARLY }))).toEqual(['refused']);
  });

  test('stops at the signal while it waits', async () => {
    const stop = new AbortController();
    const { client, of } = system({ line: [line({ poll_after_ms: 60_000 })] });
    const heard: string[] = [];
    const waiting = (async () => {
      for await (const { status } of client.buy('lamp', { ticket: EARLY, signal: stop.signal })) heard.push(status);
    })();
    const ended = expect(waiting).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(1_000);
    stop.abort(new Error('enough'));
    await vi.advanceTimersByTimeAsync(0);
    await ended;
    expect(heard).toEqual(['in_line']);
    expect(of('line')).toHaveLength(1);
  });

  test('a ticket for a sale that has no line any more is no obstacle', async () => {
    const { client } = system({ line: [problem(404, 'unknown_sale')], challenge: [UNASKED()], answer: [PASSED()] });
    expect(statuses(await buy(client, { ticket: EARLY }))).toEqual(BOUGHT);
  });
});
