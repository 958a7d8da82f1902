import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ANSWERING } from '../lib/functions.ts';
import { ROUTES, routesOf } from '../lib/routes.ts';
import { THROTTLED_ROUTES } from '../lib/settings.ts';
import { read } from '../openapi/files.js';

const document = (operation: string) =>
  parse(`
security: [{ bearer: [] }]
paths:
  /v1/lamps/{lamp}:
    ${operation}
`);

test('an operation is a route', () => {
  const route = { method: 'GET', path: '/v1/lamps/{lamp}', to: 'catalog', checkedBy: 'jwt' };
  expect(routesOf(document('get: { x-function: catalog }'))).toEqual([route]);
  expect(routesOf(document('get: { x-function: catalog, security: [] }'))).toEqual([{ ...route, checkedBy: 'nobody' }]);
  expect(routesOf(document('post: { x-function: admission, security: [{ webhookSignature: [] }], x-throttle: tokens }'))).toEqual([
    { ...route, method: 'POST', to: 'admission', checkedBy: 'signature', throttle: 'tokens' },
  ]);
});

test.each([['an unknown scheme', '{ cookie: [] }'], ['two schemes', '{ bearer: [] }, { webhookSignature: [] }']])('%s is an error that names the place', (_, security) => {
  expect(() => routesOf(document(`get: { x-function: catalog, security: [${security}] }`))).toThrow(/GET \/v1\/lamps\/\{lamp\}: one of bearer, webhookSignature/);
});

test('a function that answers no requests, and an unknown throttle, are errors that name the place', () => {
  expect(() => routesOf(document('get: { x-function: order }'))).toThrow(/GET \/v1\/lamps\/\{lamp\}: x-function is order/);
  expect(() => routesOf(document('get: { x-function: catalog, x-throttle: looks }'))).toThrow(/x-throttle is looks/);
});

test('every operation is a route, every function that answers has one, and every throttle is used', () => {
  expect(ROUTES).toHaveLength(read('api.yaml').match(/^ {2}[A-Z]+ \/v1\S* as \w+:$/gm)!.length);
  expect([...new Set(ROUTES.map((route) => route.to))].sort()).toEqual([...ANSWERING].sort());
  expect(ROUTES.flatMap((route) => route.throttle ?? []).sort()).toEqual([...THROTTLED_ROUTES].sort());
});
