// asyncapi.yaml: valid, and in agreement with the API and the code that sends.

import { readFile } from 'node:fs/promises';
import specs from '@asyncapi/specs';
import { expect, test } from 'vitest';
import { openapi } from '../../infra/cdk/openapi/document.js';
import { atRoot } from '../bin/files.js';
import { asyncapi, errorsBy, messageErrors } from './messages.ts';

const { ReservationMessage, Award } = asyncapi.components.schemas;

test('it is a document of the newest AsyncAPI, and refers to what it has', () => {
  const documentErrors = errorsBy(Object.values(specs.schemasWithoutId).at(-1) as object);
  expect(documentErrors(asyncapi)).toEqual([]);
  expect(documentErrors({ ...asyncapi, asyncapi: '3.0.0' })).not.toEqual([]);
  const { channels, components, operations, servers } = asyncapi;
  expect(Object.keys(channels)).toEqual(['push']);
  expect(channels.push).toMatchObject({ address: '/', messages: { reservation: { $ref: '#/components/messages/reservation' } } });
  const messages = [{ $ref: '#/channels/push/messages/reservation' }];
  expect(Object.keys(operations)).toEqual(['hearOfReservation']);
  expect(operations.hearOfReservation).toMatchObject({ action: 'receive', channel: { $ref: '#/channels/push' }, messages });
  expect(Object.keys(servers)).toEqual(['deployment']);
  expect(servers.deployment.host).toBe('{api}.execute-api.{region}.amazonaws.com');
  expect(Object.keys(servers.deployment.variables)).toEqual(['api', 'region']);
  expect(servers.deployment.security).toEqual([{ $ref: '#/components/securitySchemes/token' }]);
  expect(Object.keys(components.securitySchemes)).toEqual(['token']);
  expect(Object.keys(components.messages)).toEqual(['reservation']);
  expect(components.messages.reservation.payload).toEqual({ $ref: '#/components/schemas/ReservationMessage' });
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
  const source = await readFile(atRoot('shared/messaging/src/push/status_update.rs'), 'utf8');
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
