// Serves the adapter. docs/buy-from-your-own-app.md has the settings.

import { createServer } from 'node:http';
import Stripe from 'stripe';
import { adapter } from './adapter.js';

/** Larger than any event from Stripe. */
const MAX_BODY = 1024 * 1024;

const { API_URL, PAYMENT_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_KEY, PORT = '8787' } = process.env;
if (!API_URL || !PAYMENT_KEY || !STRIPE_WEBHOOK_SECRET) {
  console.error('API_URL, PAYMENT_KEY and STRIPE_WEBHOOK_SECRET must be set');
  process.exit(2);
}
const stripe = STRIPE_API_KEY ? new Stripe(STRIPE_API_KEY) : null;

async function refund(payment, reservation) {
  if (!stripe) throw new Error(`${payment} is to be refunded, and STRIPE_API_KEY is not set`);
  const metadata = { reservation_id: reservation };
  await stripe.refunds.create({ payment_intent: payment, metadata }, { idempotencyKey: `refund-${payment}` });
}

const answer = adapter({ stripeSecret: STRIPE_WEBHOOK_SECRET, apiUrl: API_URL, paymentKey: PAYMENT_KEY, refund });

const server = createServer(async (request, response) => {
  const end = (status, text) => response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
  if (request.method !== 'POST' || request.url !== '/stripe') return end(404, 'not found');
  const chunks = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      length += chunk.length;
      if (length > MAX_BODY) return end(413, 'too large');
      chunks.push(chunk);
    }
    const { status, text } = await answer(Buffer.concat(chunks), request.headers['stripe-signature'] ?? '');
    return end(status, text);
  } catch (error) {
    console.error(error);
    return response.headersSent ? response.destroy() : end(500, 'something went wrong');
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/stripe`));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());
