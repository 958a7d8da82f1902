// Paying: with the local stand-in for a payment provider, or at the provider's own page.

import { config } from './config.js';
import { Problem } from './http.js';

/** The stand-in signs and sends a webhook, which takes as long as a provider may. */
const TIMEOUT_MS = 15_000;

/** Pays a reservation, or leaves the page to pay elsewhere. */
export async function pay({ reservation_id, price_minor, currency }) {
  const { pay: how } = await config();
  if (how.kind === 'link') {
    const url = new URL(how.url, location.href);
    url.searchParams.set('reservation_id', reservation_id);
    url.searchParams.set('return_to', location.href);
    location.assign(url);
    return;
  }
  const response = await fetch(how.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reservation_id, price_minor, currency }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Problem('internal', { status: response.status });
}
