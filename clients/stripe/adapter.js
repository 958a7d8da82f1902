// Tells the flash sale what Stripe tells: an event of Stripe in, a callback of the system out.
//
// Nothing is stored here. Stripe repeats an event until it hears 2xx, and the system answers a repeated callback like the first one, so an event that
// comes twice, or while a part was down, ends the same.

import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';

/** Oldest signature that is taken, in seconds: what Stripe's own libraries take. */
const TOLERANCE_S = 300;
/** Stripe waits longer for an answer, and the system's gateway does not. */
const TIMEOUT_MS = 10_000;

/** Outcomes after which the money has to go back. */
const TO_REFUND = new Set(['refund_due']);
/** Outcomes that contradict what came before: a person has to look. */
const CONTRADICTIONS = new Set(['payment_reused', 'amount_changed']);

/**
 * Makes a function that answers a request of Stripe: `(body, signature) => { status, text }`, where `body` is the body byte for byte.
 *
 * @param {object} options
 * @param {string} options.stripeSecret the secret of Stripe's endpoint, `whsec_…`
 * @param {string} options.apiUrl where the flash sale's API is
 * @param {string} options.paymentKey the key that callbacks are signed with, as the deployment's secret has it
 * @param {(payment: string, reservation: string) => Promise<void>} options.refund gives a payment back; may be called again for the same one
 * @param {(...words: unknown[]) => void} [options.log]
 */
export function adapter({ stripeSecret, apiUrl, paymentKey, refund, log = console.error }) {
  const webhook = new Webhook(paymentKey, { format: 'raw' });

  /** Sends a callback and answers the outcome. The id is the event's, so that a repeated event is the same message. */
  async function tell(id, callback) {
    const body = JSON.stringify(callback);
    const now = new Date();
    const response = await fetch(new URL('/v1/payments/webhook', apiUrl), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': webhook.sign(id, now, body),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`the flash sale answered ${response.status}: ${await response.text()}`);
    return (await response.json()).outcome;
  }

  return async (body, signature) => {
    let event;
    try {
      event = Stripe.webhooks.constructEvent(body, signature, stripeSecret, TOLERANCE_S);
    } catch (error) {
      log('refused', error.message);
      return { status: 400, text: 'the signature is wrong or too old' };
    }
    const callback = callbackOf(event);
    if (!callback) return { status: 200, text: 'not about a reservation' };
    try {
      const outcome = await tell(event.id, callback);
      const { payment_id: payment, reservation_id: reservation } = callback.data;
      log(event.type, payment, reservation, outcome);
      if (TO_REFUND.has(outcome)) await refund(payment, reservation);
      if (CONTRADICTIONS.has(outcome)) log('LOOK AT THIS', event.id, payment, reservation, outcome);
      return { status: 200, text: outcome };
    } catch (error) {
      // Whatever it was, Stripe tries again for three days, and its dashboard shows that it fails.
      log(event.type, event.id, error.message);
      return { status: 503, text: 'try again' };
    }
  };
}

/** The callback that an event of Stripe amounts to, or null if it is nothing to the flash sale. */
export function callbackOf(event) {
  const { object } = event.data;
  const reservation_id = object.metadata?.reservation_id;
  if (!reservation_id) return null;
  const timestamp = new Date(event.created * 1_000).toISOString();
  const currency = object.currency.toUpperCase();
  switch (event.type) {
    case 'payment_intent.succeeded': {
      const data = { payment_id: object.id, reservation_id, price_minor: object.amount_received, currency };
      return { type: 'payment.succeeded', timestamp, data };
    }
    // The system answers `ignored` to types that it does not know. It hears of refunds all the same, and its logs have them.
    case 'charge.refunded': {
      const data = { payment_id: object.payment_intent, reservation_id, price_minor: object.amount_refunded, currency };
      return { type: 'payment.refunded', timestamp, data };
    }
    default:
      return null;
  }
}
