// asyncapi.yaml: valid, and in agreement with openapi.yaml and the code that sends.

import { readFile } from 'node:fs/promises';
import { Parser } from '@asyncapi/parser';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { atRoot } from '../bin/files.js';
import { messageErrors } from './messages.ts';

const read = (path: string) => readFile(atRoot(path), 'utf8');
const asyncapi = parse(await read('asyncapi.yaml'));
const openapi = parse(await read('openapi.yaml'), { merge: true });
const { ReservationMessage, Award } = asyncapi.components.schemas;

test('the AsyncAPI parser finds nothing to complain of', async () => {
  const { document, diagnostics } = await new Parser().parse(await read('asyncapi.yaml'));
  expect(diagnostics.map(({ code, message, path }) => ({ code, message, path }))).toEqual([]);
  expect(
    document
      ?.operations()
      .all()
      .map((operation) => operation.id()),
  ).toEqual(['hearOfReservation']);
});

test('the parser is one that complains', async () => {
  const broken = (await read('asyncapi.yaml')).replace('action: receive', 'action: hear');
  const { diagnostics } = await new Parser().parse(broken);
  expect(diagnostics.length).toBeGreaterThan(0);
});

test('it says the same as openapi.yaml', () => {
  const schemas = openapi.components.schemas;
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

// What the unit tests of shared/push expect of `StatusUpdate`, word for word.
test('what the notifier sends is a message', async () => {
  const source = await read('shared/push/src/status_update.rs');
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
