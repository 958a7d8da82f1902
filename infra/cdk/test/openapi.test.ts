import { describe, expect, test } from 'vitest';
import { openapi } from '../openapi/document.js';
import { schema } from '../openapi/schema.js';

const api = openapi();
const at = (pointer: string) => pointer.slice(2).split('/').reduce<any>((value, part) => value?.[part], api);

describe('a schema in short form', () => {
  test.each([
    ['Sale', { $ref: '#/components/schemas/Sale' }],
    ['Sale. On offer.', { $ref: '#/components/schemas/Sale', description: 'On offer.' }],
    ['Sale or null', { oneOf: [{ $ref: '#/components/schemas/Sale' }, { type: 'null' }] }],
    ['Sale[] 1..50', { type: 'array', items: { $ref: '#/components/schemas/Sale' }, minItems: 1, maxItems: 50 }],
    ['integer 1..20. Units.', { type: 'integer', minimum: 1, maximum: 20, description: 'Units.' }],
    ['integer 0+', { type: 'integer', minimum: 0 }],
    ['integer 1..20 or null', { type: ['integer', 'null'], minimum: 1, maximum: 20 }],
    ['boolean = false', { type: 'boolean', default: false }],
    ['string ..48 /^[a-z. ]+$/. Lower case.', { type: 'string', maxLength: 48, pattern: '^[a-z. ]+$', description: 'Lower case.' }],
    ['paid|free = paid. How.', { enum: ['paid', 'free'], default: 'paid', description: 'How.' }],
    [['queued'], { const: 'queued' }],
    [{ properties: {} }, { type: 'object', properties: {}, additionalProperties: false }],
    [
      { properties: { a: 'string', 'b?': 'Sale' }, open: true },
      { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { $ref: '#/components/schemas/Sale' } } },
    ],
  ])('%j', (short, long) => expect(schema(short)).toEqual(long));

  test('what is none is an error', () => expect(() => schema('Sale, on offer')).toThrow('Sale, on offer is no schema'));
});

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(api).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer]) => pointer!);
  expect(references.length).toBeGreaterThan(500);
  expect([...new Set(references)].filter((pointer) => at(pointer) === undefined)).toEqual([]);
});

describe('an operation', () => {
  const text = (operation: string) => `
gateway: { 400: {}, 401: {}, 403: {}, 404: {}, 413: {}, 414: {}, 429: {}, 500: {}, 503: {} }
caches: { shared: { header: Shared, etag: true, problems: [404] } }
functions: { catalog: [browsing] }
unknown: { lamp: unknown_sale }
problems: {}
security: [{ bearer: [] }]
components: { parameters: { path: { lamp: string }, header: {} }, requestBodies: {}, headers: {}, schemas: {} }
paths:
  ${operation}`;
  const codes = (operation: string) => {
    const { paths, components } = openapi(text(operation));
    const [answers] = Object.values<any>(paths).flatMap((item) => Object.values<any>(item).map(({ responses }) => responses));
    const of = ([status, answer]: [string, any]) => {
      const { content } = answer.$ref ? components.responses[answer.$ref.split('/').pop()] : answer;
      return [status, ...Object.keys(content['application/problem+json']?.examples ?? {}), ...(content['application/json'] ? ['gateway'] : [])];
    };
    return Object.entries(answers).filter(([status]) => status >= '400').map((entry) => of(entry).join(' '));
  };
  const always = ['414 gateway', '500 Internal gateway', '503 Overloaded gateway'];
  const [uri, ...failing] = always as [string, string, string];

  test('of everybody', () =>
    expect(codes('GET /v1/lamps as list: { x-function: catalog, cache: shared }')).toEqual([
      '413 gateway', uri, '429 gateway', ...failing,
    ]));

  test('of a user', () =>
    expect(codes('GET /v1/lamps/{lamp} as look: { x-function: catalog, problems: [sold_out] }')).toEqual([
      '400 InvalidRequest gateway', '401 Unauthorized gateway', '403 gateway', '404 UnknownSale gateway', '409 SoldOut',
      '413 gateway', uri, '429 RateLimited gateway', ...failing,
    ]));

  test('of an operator, with a body', () =>
    expect(codes('POST /v1/admin/lamps as make: { requestBody: Lamp, problems: [unknown_sale] }')).toEqual([
      '400 InvalidRequest gateway', '401 Unauthorized gateway', '403 Forbidden gateway', '404 UnknownSale',
      '413 TooLarge gateway', uri, '415 UnsupportedMediaType', '429 gateway', ...failing,
    ]));

  test('with a problem that is none', () =>
    expect(() => codes('GET /v1/lamps as list: { problems: [broken] }')).toThrow('/v1/lamps: broken is no problem'));

  test.each(['GET /v1/lamps', 'PUT /v1/lamps as change'])('"%s" is none', (key) =>
    expect(() => codes(`${key}: {}`)).toThrow(`${key} is not an operation`));
});
