// A receiver of events: `SECRET=… node docs/events/receiver.mjs 8080`. It checks each signature, keeps what is new, answers at once,
// and prints a line for every event. Without any package; the libraries of standardwebhooks.com do what `isGenuine` does.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

/** Older or newer requests may be replays. */
const TOLERANCE_S = 5 * 60;
/** An event has less than two kilobytes. */
const MAX_BYTES = 64 * 1024;

/** Whether a request was signed with the secret, a moment ago. `body` is the text as it came, before it is parsed. */
export function isGenuine(secret, headers, body, now_s = Date.now() / 1000) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!id || !signatures || !(Math.abs(now_s - Number(timestamp)) < TOLERANCE_S)) return false;
  // The key is the secret's text. Libraries take it as `whsec_` and its base64.
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest();
  return signatures.split(' ').some((each) => {
    const given = Buffer.from(each.replace(/^v1,/, ''), 'base64');
    return each.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Events that came before. In earnest this is a table with the id as its key, written with what the event changes. */
const seen = new Set();

async function take(request) {
  let body = '';
  for await (const chunk of request) {
    body += chunk;
    if (body.length > MAX_BYTES) return 413;
  }
  if (!isGenuine(process.env.SECRET, request.headers, body)) return 401;
  const event = JSON.parse(body);
  const is_new = !seen.has(event.id);
  seen.add(event.id);
  console.log(is_new ? 'new' : 'again', event.type, event.id);
  return 204;
}

const server = createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  );
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => console.log('listening', server.address().port));
