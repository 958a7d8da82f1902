// The Stripe example, with events signed as Stripe signs them, and an API that verifies callbacks.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { adapter } from '../stripe/adapter.js';

const STRIPE_SECRET = 'whsec_of_the_endpoint';
const PAYMENT_KEY = 'the-key-of-the-deployment';

const RESERVATION = 'lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff';
const COMMON = { currency: 'eur', metadata: { reservation_id: RESERVATION } };
const INTENT = { id: 'pi_3SXsample', object: 'payment_intent', amount: 990, amount_received: 990, ...COMMON, status: 'succeeded' };
const CHARGE = { id: 'ch_3SXsample', object: 'charge', amount: 990, amount_refunded: 990, ...COMMON, payment_intent: INTENT.id };
const eventOf = (id: string, type: string, created: number, object: object) =>
  JSON.stringify({ id, object: 'event', api_version: '2026-10-29.clover', created, type, livemode: false, data: { object } });
const succeeded = eventOf('evt_1SXsampleSucceeded', 'payment_intent.succeeded', 1_795_510_859, INTENT);
const refunded = eventOf('evt_1SXsampleRefunded', 'charge.refunded', 1_795_511_459, CHARGE);

/** The callbacks that the API received, with valid Standard Webhooks signatures. */
let heard: { id: string; callback: unknown }[] = [];
/** The API's answers, in order; after that, `applied`. */
let answers: [number, object][] = [];
let refunds: string[][] = [];
let refundsFail = false;

const webhook = new Webhook(PAYMENT_KEY, { format: 'raw' });
const api = createServer(async (request, response) => {
  const end = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  try {
    const callback = webhook.verify(await text(request), request.headers as Record<string, string>);
    heard.push({ id: String(request.headers['webhook-id']), callback });
    end(...(answers.shift() ?? [200, { outcome: 'applied' }]));
  } catch {
    end(401, { status: 401, code: 'unauthorized' });
  }
}).listen(0, '127.0.0.1');
await once(api, 'listening');
afterAll(() => api.close());
beforeEach(() => {
  [heard, answers, refunds, refundsFail] = [[], [], [], false];
});

async function refund(...about: string[]) {
  refunds.push(about);
  if (refundsFail) throw new Error('Stripe does not answer');
}

const adapterOf = (port: number) =>
  adapter({ stripeSecret: STRIPE_SECRET, apiUrl: `http://127.0.0.1:${port}`, paymentKey: PAYMENT_KEY, refund, log: () => {} });
const answer = adapterOf((api.address() as AddressInfo).port);

/** Delivers an event as Stripe does; what it signed is `payload`. */
function deliver(body: string, { secret = STRIPE_SECRET, ageS = 0, payload = body, to = answer } = {}) {
  const timestamp = Math.floor(Date.now() / 1_000) - ageS;
  return to(Buffer.from(body), Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }));
}

const PAYMENT = {
  type: 'payment.succeeded',
  timestamp: '2026-11-24T09:00:59.000Z',
  data: { payment_id: 'pi_3SXsample', reservation_id: RESERVATION, price_minor: 990, currency: 'EUR' },
};

test('a payment is passed on', async () => {
  expect(await deliver(succeeded)).toEqual({ status: 200, text: 'applied' });
  expect(heard).toEqual([{ id: 'evt_1SXsampleSucceeded', callback: PAYMENT }]);
  expect(refunds).toEqual([]);
});

test('a wrong or missing signature is refused, and so is a changed body', async () => {
  expect(await deliver(succeeded, { secret: 'whsec_of_somebody_else' })).toMatchObject({ status: 400 });
  expect(await answer(Buffer.from(succeeded), '')).toMatchObject({ status: 400 });
  const changed = succeeded.replace('"amount_received":990', '"amount_received":1');
  expect(await deliver(changed, { payload: succeeded })).toMatchObject({ status: 400 });
  expect(heard).toEqual([]);
});

test('a replayed old delivery is refused', async () => {
  expect(await deliver(succeeded, { ageS: 301 })).toMatchObject({ status: 400 });
  expect(heard).toEqual([]);
  expect(await deliver(succeeded, { ageS: 290 })).toMatchObject({ status: 200 });
});

test('a repeated event sends the same message again', async () => {
  await deliver(succeeded);
  expect(await deliver(succeeded)).toEqual({ status: 200, text: 'applied' });
  expect(heard).toHaveLength(2);
  expect(heard[1]).toEqual(heard[0]);
});

test('while the flash sale cannot be reached, Stripe gets 503 and retries', async () => {
  answers = [
    [503, { code: 'overloaded' }],
    [404, { code: 'unknown_reservation' }],
  ];
  expect(await deliver(succeeded)).toMatchObject({ status: 503 });
  expect(await deliver(succeeded)).toMatchObject({ status: 503 });
  expect(await deliver(succeeded)).toEqual({ status: 200, text: 'applied' });
  expect(await deliver(succeeded, { to: adapterOf(1) })).toMatchObject({ status: 503 });
});

test('a payment that the order cannot accept is refunded, and again if that fails', async () => {
  const due: [number, object] = [200, { outcome: 'refund_due' }];
  answers = [due, due, due];
  expect(await deliver(succeeded)).toEqual({ status: 200, text: 'refund_due' });
  expect(refunds).toEqual([['pi_3SXsample', RESERVATION]]);
  refundsFail = true;
  expect(await deliver(succeeded)).toMatchObject({ status: 503 });
  refundsFail = false;
  expect(await deliver(succeeded)).toEqual({ status: 200, text: 'refund_due' });
  expect(refunds).toHaveLength(3);
  answers = [[200, { outcome: 'payment_reused' }]];
  expect(await deliver(succeeded)).toEqual({ status: 200, text: 'payment_reused' });
  expect(refunds).toHaveLength(3);
});

test('a refund is passed on, and other events are not', async () => {
  answers = [[200, { outcome: 'ignored' }]];
  expect(await deliver(refunded)).toEqual({ status: 200, text: 'ignored' });
  expect(heard).toMatchObject([
    { id: 'evt_1SXsampleRefunded', callback: { type: 'payment.refunded', data: { payment_id: 'pi_3SXsample', price_minor: 990 } } },
  ]);
  expect(await deliver(succeeded.replaceAll('payment_intent.succeeded', 'payment_intent.created'))).toMatchObject({ status: 200 });
  const other = eventOf('evt_1SXother', 'payment_intent.succeeded', 1_795_510_859, { ...INTENT, metadata: {} });
  expect(await deliver(other)).toMatchObject({ status: 200 });
  expect(heard).toHaveLength(1);
});
