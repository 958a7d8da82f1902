// Turns Stripe's events into the flash sale's payment callbacks.
//
// Nothing is stored here. Stripe repeats an event until it gets a 2xx, and the system answers a repeated callback like the first one. So an event
// that is repeated, or that comes during an outage, has the same result.

import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';

/** Maximum age of a signature, in seconds: the default of Stripe's own libraries. */
const TOLERANCE_S = 300;
/** Stripe waits longer for an answer; the system's gateway does not. */
const TIMEOUT_MS = 10_000;

/** Outcomes that contradict an earlier callback: a person must check them. */
const CONTRADICTIONS = new Set(['payment_reused', 'amount_changed']);

/**
 * Returns a function that answers a request from Stripe: `(body, signature) => { status, text }`, where `body` is the unchanged body.
 *
 * @param {object} options
 * @param {string} options.stripeSecret the secret of the endpoint at Stripe, `whsec_…`
 * @param {string} options.apiUrl the URL of the flash sale's API
 * @param {string} options.paymentKey the key that signs callbacks, as in the deployment's secret
 * @param {(payment: string, reservation: string) => Promise<void>} options.refund refunds a payment; may be called again for the same one
 * @param {(...words: unknown[]) => void} [options.log]
 */
export function adapter({ stripeSecret, apiUrl, paymentKey, refund, log = console.error }) {
  const webhook = new Webhook(paymentKey, { format: 'raw' });

  /** Sends a callback and returns the outcome. The id is the event's, so that a repeated event is the same message. */
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
      if (outcome === 'refund_due') await refund(payment, reservation);
      if (CONTRADICTIONS.has(outcome)) log('LOOK AT THIS', event.id, payment, reservation, outcome);
      return { status: 200, text: outcome };
    } catch (error) {
      // Whatever failed, Stripe retries for three days, and its dashboard shows the failures.
      log(event.type, event.id, error.message);
      return { status: 503, text: 'try again' };
    }
  };
}

/** The callback for an event from Stripe, or null if it does not concern the flash sale. */
export function callbackOf(event) {
  const { object } = event.data;
  const reservation_id = object.metadata?.reservation_id;
  if (!reservation_id) return null;
  const timestamp = new Date(event.created * 1_000).toISOString();
  const currency = object.currency.toUpperCase();
  const callback = (type, payment_id, price_minor) => ({ type, timestamp, data: { payment_id, reservation_id, price_minor, currency } });
  switch (event.type) {
    case 'payment_intent.succeeded':
      return callback('payment.succeeded', object.id, object.amount_received);
    // The system answers `ignored` to types that it does not know. Refunds are sent all the same, so that its logs have them.
    case 'charge.refunded':
      return callback('payment.refunded', object.payment_intent, object.amount_refunded);
    default:
      return null;
  }
}
