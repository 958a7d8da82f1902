import crypto from 'node:crypto';
import { expect, test } from 'vitest';
import { read } from '../openapi/files.js';
import { DEPLOYED, type Json, only, resources, synthesized, target } from './stack.ts';

const { seals } = JSON.parse(read('shared/pass/line_vectors.json'));
const source = read('infra/cdk/edge/line.js');

/** The function as CloudFront runs it, with a key-value store in memory. */
function handlerWith(store: Record<string, string>): (event: Json) => Promise<Json> {
  const cf = {
    kvs: () => ({
      get: async (key: string) => {
        if (!(key in store)) throw new Error(`no ${key}`);
        return store[key];
      },
    }),
  };
  const code = source.replace(/^import .*$/gm, '');
  return new Function('cf', 'crypto', `${code}; return handler;`)(cf, crypto);
}

const KEYS = Object.fromEntries(seals.keys.map(({ number, ...keys }: Json) => [`key:${number}`, JSON.stringify(keys)]));
const STORE = { ...KEYS, 'line:lamp': '7' };

function asking(headers: Record<string, string>, uri = '/v1/sales/lamp/challenges', method = 'POST'): Json {
  const given = Object.entries(headers).map(([name, value]) => [name, { value }]);
  return { viewer: { ip: '2001:db8::1' }, request: { method, uri, headers: Object.fromEntries(given) } };
}

const shown = (ticket: string, watermark: string) => ({ 'x-line-ticket': ticket, 'x-line-watermark': watermark });

test('the golden vectors are admitted or refused as in shared/pass/src/line', async () => {
  const handler = handlerWith(STORE);
  let asked = 0;
  for (const watermark of seals.watermarks) {
    for (const { user, late_second, ticket } of seals.tickets) {
      const admitted: string[] = late_second === null ? watermark.early_admitted : watermark.late_admitted;
      for (const uri of ['/v1/sales/lamp/challenges', '/v1/sales/lamp/tokens']) {
        const answer = await handler(asking(shown(ticket, watermark.watermark), uri));
        if (admitted.includes(user)) expect(answer.uri, `${user} ${late_second}`).toBe(uri);
        else expect([answer.statusCode, JSON.parse(answer.body).code]).toEqual([409, 'not_your_turn']);
        asked++;
      }
    }
  }
  expect(asked).toBe(seals.watermarks.length * seals.tickets.length * 2);
  const counts = seals.watermarks.map((watermark: Json) => watermark.early_admitted.length);
  expect(Math.min(...counts)).toBe(0);
  expect(Math.max(...counts)).toBe(5);
});

const last = seals.watermarks.at(-1);
const { ticket, user } = seals.tickets.find((each: Json) => last.late_admitted.includes(each.user));

test('a ticket or watermark that is missing, changed or from another round is refused', async () => {
  const handler = handlerWith(STORE);
  const code = async (headers: Record<string, string>, store = STORE) => {
    const answer = await (store === STORE ? handler : handlerWith(store))(asking(headers));
    return answer.statusCode === undefined ? 'passed' : JSON.parse(answer.body).code;
  };
  expect(await code(shown(ticket, last.watermark)), user).toBe('passed');
  expect(await code({})).toBe('no_ticket');
  expect(await code({ 'x-line-ticket': ticket })).toBe('not_your_turn');
  expect(await code(shown(ticket, last.watermark), { ...STORE, 'line:lamp': '8' })).toBe('no_ticket');
  expect(await code(shown(last.watermark, ticket))).toBe('no_ticket');
  for (let at = 0; at < ticket.length; at += 7) {
    const other = ticket[at] === 'A' ? 'B' : 'A';
    const forged = ticket.slice(0, at) + other + ticket.slice(at + 1);
    // Changing the key's number names a key that the store does not have: that is for the gateway.
    if (at !== 1 && at !== 2) expect(await code(shown(forged, last.watermark)), `${at}`).toBe('no_ticket');
  }
});

test('a later round than the store\'s is let through once its line admits the ticket, and an earlier one is refused', async () => {
  const admitted = async (named: string, each = last.watermark) =>
    (await handlerWith({ ...STORE, 'line:lamp': named })(asking(shown(ticket, each)))).statusCode ?? 'passed';
  expect(await admitted('7')).toBe('passed');
  expect(await admitted('6')).toBe('passed');
  expect(await admitted('8')).toBe(403);
  const first = seals.watermarks.find((each: Json) => !each.early_admitted.length && !each.late_admitted.length);
  expect(await admitted('6', first.watermark)).toBe(409);
});

test('a value that is not a round lets everyone through', async () => {
  for (const value of ['', 'off', '7 ', '0', '-1', '7.5', 'null', '77777777777']) {
    const event = asking({});
    expect((await handlerWith({ ...STORE, 'line:lamp': value })(event)).uri, value).toBe(event.request.uri);
  }
});

test('unknown cases are left to the gateway, with the viewer\'s address', async () => {
  const cases: [Record<string, string>, Json][] = [
    [{}, asking({})],
    [{ 'line:lamp': '7' }, asking(shown(ticket, last.watermark))],
    [STORE, asking({}, '/v1/sales/chair/challenges')],
    [STORE, asking({}, '/v1/sales/lamp/tickets')],
    [STORE, asking({}, '/v1/sales/lamp/challenges', 'OPTIONS')],
    [STORE, asking({}, '/v1/sales/lamp/reservations/pass')],
  ];
  for (const [store, event] of cases) {
    event.request.headers['x-viewer-address'] = { value: '6.6.6.6' };
    const answer = await handlerWith(store)(event);
    expect(answer.uri).toBe(event.request.uri);
    expect(answer.headers['x-viewer-address']).toEqual({ value: '2001:db8::1' });
  }
});

test('it fits CloudFront: below 10 KB, and nothing newer than its runtime', () => {
  expect(source.length).toBeLessThan(10_240);
  expect(source.replace(/^\/\/.*$/gm, '')).not.toMatch(/\bBigInt\b|\d+n\b|\?\.|\?\?/);
});

test('a setting puts it in front of the routes below a sale, with its own store', () => {
  const settings = { ...DEPLOYED.prod, edge: { ...DEPLOYED.prod.edge!, line: true } };
  const template = synthesized(settings);
  const store = only(template, 'AWS::CloudFront::KeyValueStore');
  const fn = resources(template, 'AWS::CloudFront::Function').find((each) => each.properties.FunctionCode === source)!;
  const [association] = fn.properties.FunctionConfig.KeyValueStoreAssociations;
  expect(target(association.KeyValueStoreARN)).toBe(store.id);
  const { CacheBehaviors } = only(template, 'AWS::CloudFront::Distribution').properties.DistributionConfig;
  const behavior = (path: string) => CacheBehaviors.find((each: Json) => each.PathPattern === path);
  const [below] = behavior('/v1/sales/*/*').FunctionAssociations;
  expect([below.EventType, target(below.FunctionARN)]).toEqual(['viewer-request', fn.id]);
  expect(target(behavior('/v1/*').FunctionAssociations[0].FunctionARN)).not.toBe(fn.id);
  expect(Object.keys(template.toJSON().Outputs)).toContain('LineStoreArn');

  const off = synthesized({ ...DEPLOYED.prod, edge: { ...DEPLOYED.prod.edge!, line: false } });
  off.resourceCountIs('AWS::CloudFront::KeyValueStore', 0);
  off.resourceCountIs('AWS::CloudFront::Function', 1);
});
