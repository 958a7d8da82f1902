import { describe, expect, test } from 'vitest';
import { type Settings, validated } from '../lib/settings.ts';
import { DEPLOYED } from './stack.ts';

const good = DEPLOYED.prod;
const edge = good.edge!;
const opening = { from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count: 200 };

test('the deployed settings are valid', () => {
  for (const settings of Object.values(DEPLOYED)) expect(validated(settings)).toBe(settings);
});

// What a deployment's file decides is in deployment.test.ts.
describe('invalid settings say what is wrong', () => {
  const CASES: [string, Partial<Settings>, RegExp][] = [
    ['a name with capitals', { name: 'Flash' }, /name: .*"Flash"/],
    ['a name that is too long', { name: 'a'.repeat(25) }, /name: /],
    ['an unknown log level', { logLevel: 'loud' as Settings['logLevel'] }, /logLevel: .*"loud"/],
    ['too little memory', { functionMemoryMb: 64 }, /functionMemoryMb: 128 to 10240; got 64/],
    ['a retention that CloudWatch does not know', { logRetentionDays: 2 }, /logRetentionDays: .*got 2/],
    ['logs for ever', { logRetentionDays: 9999 }, /logRetentionDays: /],
    ['one consumer', { orderConcurrency: 1 }, /orderConcurrency: 2 to 1000; got 1/],
    ['one winner a second', { winnersPerSecond: 1 }, /winnersPerSecond: 2 to 10000; got 1/],
    ['events over HTTP', { webhookUrl: 'http://127.0.0.1/' }, /webhookUrl: .*https.*"http:/],
    ['events with a password', { webhookUrl: 'https://a:b@shop.example/' }, /webhookUrl: .*without a user/],
    ['no throughput', { throttle: { ...good.throttle, requestsPerSecond: 0 } }, /throttle: .* above 0/],
    ['no tokens', { throttle: { ...good.throttle, tokens: { requestsPerSecond: 1, burst: 0 } } }, /throttle: .* above 0/],
    ['a door that leaves nothing for reservations', { throttle: { ...good.throttle, tokens: { requestsPerSecond: 6_000, burst: 1 } } }, /throttle: challenges, tokens, tickets together must leave some requestsPerSecond/],
    ['a door with all of the burst', { throttle: { ...good.throttle, challenges: { requestsPerSecond: 1, burst: 5_000 } } }, /throttle: .* some burst/],
    ['an edge that lets nobody in', { edge: { ...edge, requestsPer5MinutesPerIp: 9 } }, /edge\.requestsPer5MinutesPerIp: 10 to .*got 9/],
    ['a certificate that CloudFront cannot see', { edge: { ...edge, domain: { name: 'a.example', certificateArn: 'arn:aws:acm:eu-central-1:1:c' } } }, /domain\.certificateArn: .*us-east-1/],
    ['an invalid contact', { edge: { ...edge, contactUrl: 'javascript:alert(1)' } }, /contactUrl: /],
    ['payments over HTTP', { edge: { ...edge, payUrl: 'http://p.example' } }, /payUrl: .*https/],
    ['a key without a number', { edge: { ...edge, key: 'key' } }, /edgeKey: .*key1/],
    ['a name in another zone', { edge: { ...edge, domain: { name: 'a.example', zone: { id: 'Z0123456789ABC', name: 'b.example' } } } }, /domain\.zone\.name: a\.example is not in "b\.example"/],
    ['a zone without an id', { edge: { ...edge, domain: { name: 'a.example', zone: { id: '', name: 'a.example' } } } }, /domain\.zone\.id/],
    ['a qualifier that CDK would refuse', { qualifier: 'My-Shop' }, /qualifier: 1 to 10 of a-z/],
    ['a canary on the emulator', { emulator: 'http://127.0.0.1:4566' }, /releases, edge: the emulator/],
    ['more than an origin', { edge: { ...edge, signInOrigins: ["https://a.example; script-src *"] } }, /signInOrigins: /],
    ['an address without a host', { alarmEmail: 'shop' }, /alarmEmail: .*"shop"/],
    ['an issuer that is not a URL', { issuer: 'me' }, /issuer: not a URL: "me"/],
    ['an issuer over HTTP on AWS', { issuer: 'http://id.example.com' }, /issuer: must be https/],
    ['no claim for operators', { operatorClaims: [] }, /operatorClaims: at least one/],
    ['a scope that makes operators', { operatorClaims: ['scope'] }, /operatorClaims: .*not scope.*got "scope"/],
    ['a claim with a space', { operatorClaims: ['a b'] }, /operatorClaims: /],
    ['an empty audience', { audience: [''] }, /audience: /],
    ['an invalid URL of Redis', { redisUrl: '127.0.0.1' }, /redisUrl: /],
    ['a node of another service', { redis: redis({ nodeType: 't4g.micro' }) }, /redis\.nodeType: /],
    ['six replicas', { redis: redis({ replicas: 6 }) }, /redis\.replicas: 0 to 5; got 6/],
    ['no shard', { redis: redis({ shards: 0 }) }, /shards: 1 to 90; got 0/],
    ['a password over plain Redis', { emulator: 'http://127.0.0.1:4566' }, /redis\.authentication: the emulator has no TLS/],
    ['durability without cluster mode', { redis: redis({ durability: 'async', nodeType: 'cache.r7g.large' }) }, /redis\.durability: needs shards/],
    ['durability on small nodes', { redis: redis({ durability: 'sync', shards: 1 }) }, /redis\.durability: needs .*r6g/],
    ['a table colder than a new one', { table: { warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 100 } } }, /table\.warmThroughput\.writeUnitsPerSecond: at least 4000; got 100/],
    ['an opening without an end', { provisioned: [{ from: '2099-12-01T17:45:00Z', to: '', count: 1 }] }, /provisioned .*two times/],
    ['a time without a zone', { provisioned: [{ ...opening, from: '2099-12-01T17:45:00' }] }, /provisioned .*two times/],
    ['a time and a pattern', { provisioned: [{ ...opening, to: 'cron(0 18 * * ? *)' }] }, /provisioned .*two times/],
    ['an opening that ends as it starts', { provisioned: [{ ...opening, to: opening.from }] }, /provisioned .*after the start/],
    ['a time with two zones', { provisioned: [{ ...opening, timeZone: 'Asia/Tokyo' }] }, /provisioned .*timeZone is for cron/],
    ['no processes', { provisioned: [{ ...opening, count: 0 }] }, /provisioned .*count: 1 to 10000; got 0/],
    ['provisioned processes on the emulator', { emulator: 'http://127.0.0.1:4566', provisioned: [opening] }, /provisioned: the emulator/],
    ['too many tags', { tags: Object.fromEntries(Array.from({ length: 41 }, (_, n) => [`t${n}`, ''])) }, /tags: at most 40/],
    ['kept data on one node', { redis: redis({ replicas: 0 }) }, /redis\.replicas: at least 1/],
  ];

  test.each(CASES)('%s', (_, change, message) => {
    expect(() => validated({ ...good, ...change })).toThrow(message);
  });

  test('all at once', () => {
    expect(() => validated({ ...good, name: '', functionMemoryMb: 0 })).toThrow(/name: .*\n.*functionMemoryMb: /);
  });
});

function redis(change: object): Settings['redis'] {
  return { nodeType: 'cache.t4g.micro', replicas: 1, authentication: true, durability: 'disabled', ...change };
}
