// Buys a unit and follows it to the end:
//
//     API_URL=… TOKEN=… npx tsx examples/buy.ts lamp
//
// KEY names the attempt: with the same key a second run finds the reservation of the first one. PUSH_URL makes it hear of changes at once,
// where the platform has a WebSocket (Node 22 and later, browsers). UNTIL is a status at which it stops.

import { FlashSaleClient, NoAnswerError, ProblemError, type PurchaseState } from 'flash-sale-client';

const { API_URL, TOKEN, PUSH_URL, KEY, UNTIL } = process.env;
const sale = process.argv[2];
if (!API_URL || !TOKEN || !sale) {
  console.error('usage: API_URL=… TOKEN=… buy.ts SALE');
  process.exit(2);
}

const client = new FlashSaleClient({
  baseUrl: API_URL,
  getToken: () => TOKEN,
  ...(PUSH_URL ? { pushUrl: PUSH_URL } : {}),
  onRetry: ({ method, status, delayMs }) => {
    console.error(`${method}: ${status ?? 'no answer'}, again in ${Math.ceil(delayMs / 1_000)} s`);
  },
});

const stop = new AbortController();
process.once('SIGINT', () => stop.abort(new Error('stopped')));

try {
  for await (const state of client.buy(sale, { signal: stop.signal, ...(KEY ? { idempotencyKey: KEY } : {}) })) {
    console.log(`${state.status}: ${about(state)}`);
    if (state.status === UNTIL) break;
    if (state.status === 'refused') process.exitCode = 1;
  }
} catch (error) {
  if (error instanceof ProblemError) console.error(`${error.message} (${error.code})`);
  else if (error instanceof NoAnswerError) console.error('No answer. Run it again with the same KEY.');
  else throw error;
  process.exitCode = 1;
}

function range({ from, to }: { from: number; to: number }): string {
  return from === to ? `${from}` : `${from} to ${to}`;
}

function about(state: PurchaseState): string {
  switch (state.status) {
    case 'in_line':
      return `${state.ahead ? `${range(state.ahead)} people ahead` : 'the sale has not opened'}, ticket ${state.ticket}`;
    case 'admitted':
      return `the pass is good until ${state.admission.expires_at}`;
    case 'refused':
      return state.refusal.code;
    case 'challenged':
      return state.challenge.kind;
    case 'pending_payment':
      return `${state.reservation_id}, pay ${state.price_minor} ${state.currency} (minor units) by ${state.pay_by}`;
    case 'queued':
    case 'paid':
    case 'expired':
    case 'cancelled':
      return state.reservation_id;
    default:
      return JSON.stringify(state);
  }
}
