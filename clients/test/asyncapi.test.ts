// asyncapi.yaml: valid, and in agreement with the API and the code that sends.

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { atRoot } from '../bin/files.js';
import { documentErrors } from './asyncapi.ts';
import { messageErrors } from './messages.ts';

const read = (path: string) => readFile(atRoot(path), 'utf8');
const asyncapi = parse(await read('asyncapi.yaml'));
const { ReservationMessage, Award } = asyncapi.components.schemas;

test('it is a document of the newest AsyncAPI', () => {
  expect(documentErrors(asyncapi)).toEqual([]);
  expect(Object.keys(asyncapi.operations)).toEqual(['hearOfReservation']);
});

test.each([
  ['an older version', 'asyncapi: 3.1.0', 'asyncapi: 3.0.0'],
  ['a word that is none', 'action: receive', 'action: hear'],
  ['a field that is none', 'title: Push\n', 'titel: Push\n'],
  ['a field that is missing', '    protocol: wss\n', ''],
  ['a payload that is no schema', 'type: integer', 'type: whole'],
  ['a reference to nothing', "'#/components/schemas/ReservationMessage'", "'#/components/schemas/Message'"],
  ['a reference to another kind of thing', "'#/components/messages/reservation'", "'#/components/schemas/Award'"],
  ['an operation without a channel', "channel:\n      $ref: '#/channels/push'", "channel:\n      $ref: '#/servers/deployment'"],
  ['a message of no channel', "- $ref: '#/channels/push/messages/reservation'", "- $ref: '#/components/messages/reservation'"],
  ['a server that is none', 'title: Push\n', "servers: [{ $ref: '#/channels/push' }]\n"],
  ['a variable that is not described', '{region}', '{zone}'],
  ['a parameter that is not described', 'address: /\n', 'address: /{user}\n'],
  ['a query in an address', 'address: /\n', "address: '/?token'\n"],
])('what is wrong is found: %s', async (_, right, wrong) => {
  const text = await read('asyncapi.yaml');
  expect(text).toContain(right);
  expect(documentErrors(parse(text.replaceAll(right, wrong)))).not.toEqual([]);
});

test('it says the same as the API', () => {
  const { schemas } = openapi().components;
  const statuses = schemas.ReservationStatus.enum.filter((status: string) => status !== 'queued');
  expect(ReservationMessage.properties.status.enum).toEqual(statuses);
  expect(ReservationMessage.properties.reservation_id.pattern).toBe(schemas.ReservationId.pattern);
  expect(ReservationMessage.properties.unit).toMatchObject({ minimum: schemas.Unit.minimum, maximum: schemas.Unit.maximum });
  const kinds = Award.oneOf.flatMap(
    ({ properties: { kind } }: { properties: { kind: { const?: string; enum?: string[] } } }) => kind.enum ?? kind.const,
  );
  expect(kinds).toEqual(Object.keys(schemas.Award.discriminator.mapping));
  const [amount] = Award.oneOf;
  const { amount_minor, currency } = schemas.AmountAward.properties;
  expect(amount.properties.amount_minor).toEqual(amount_minor);
  expect(currency.$ref).toBe('#/components/schemas/Currency');
  expect(amount.properties.currency.pattern).toBe(schemas.Currency.pattern);
});

test('its examples are messages, and what is none is not', async () => {
  const examples = asyncapi.components.messages.reservation.examples.map(({ payload }: { payload: unknown }) => payload);
  for (const example of examples) expect(messageErrors(example)).toEqual([]);
  const [placed, paid, , drawn] = examples;
  for (const wrong of [
    { ...placed, pay_by: undefined },
    { ...placed, pay_by: 'soon' },
    { ...paid, pay_by: placed.pay_by },
    { ...paid, status: 'queued' },
    { ...paid, type: 'order' },
    { ...drawn, unit: undefined },
    { ...drawn, award: { kind: 'prize' } },
  ]) {
    expect(messageErrors(JSON.parse(JSON.stringify(wrong))), JSON.stringify(wrong)).not.toEqual([]);
  }
});

// What the unit tests of shared/messaging/src/push expect of `StatusUpdate`, word for word.
test('what the notifier sends is a message', async () => {
  const source = await read('shared/messaging/src/push/status_update.rs');
  const id = /const ID: &str = "([^"]+)"/.exec(source)?.[1];
  const payBy = /let pay_by = "([^"]+)"/.exec(source)?.[1];
  const award = /json!\((\{ "kind": "amount", "amount_minor": \d+, "currency": "EUR" \})\)/.exec(source)?.[1];
  const sent = [...source.matchAll(/json!\((\{ "type": "reservation".*?\})\)/gs)].map(([, text]) =>
    JSON.parse(
      (text as string).replace(': ID,', `: "${id}",`).replace(': pay_by }', `: "${payBy}" }`).replace(': award }', `: ${award} }`),
    ),
  );
  expect(sent.length).toBeGreaterThanOrEqual(4);
  for (const message of sent) expect(messageErrors(message), JSON.stringify(message)).toEqual([]);
});
