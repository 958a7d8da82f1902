// A CloudFront Function. It turns away who is not at the front of a sale's line before the gateway hears of it, and writes the
// viewer's address over whatever the viewer says it is. docs/line.md says what tickets and watermarks are made of.
//
// The key value store has `key:NUMBER` with the keys that the line's are derived from (`./flash line-keys` prints them), and
// `line:SALE` with the number of the round, or of an earlier one, for each sale whose line is checked here. What is not in it the gateway checks alone,
// and it checks the rest once more: whether the ticket is the caller's.
import cf from 'cloudfront';
import crypto from 'crypto';

const VIEWER_HEADER = 'x-viewer-address';
const TICKET_HEADER = 'x-line-ticket';
const WATERMARK_HEADER = 'x-line-watermark';
const WAY_IN = /^\/v1\/sales\/([A-Za-z0-9_-]{1,48})\/(challenges|tokens)$/;
const VERSION = 1;
const TAG = 32;
const WHOLE_PPB = 1000000000;

async function handler(event) {
  const request = event.request;
  request.headers[VIEWER_HEADER] = { value: event.viewer.ip };
  const path = WAY_IN.exec(request.uri);
  if (request.method !== 'POST' || path === null) return request;
  const kvs = cf.kvs();
  const sale = path[1];
  let round;
  try {
    round = await kvs.get('line:' + sale);
  } catch (absent) {
    return request;
  }
  // What is no round is a mistake, and must shut nobody out.
  if (!/^[1-9][0-9]{0,9}$/.test(round)) return request;
  const ticket = await opened(kvs, sale, request.headers[TICKET_HEADER], 'ticket');
  const watermark = await opened(kvs, sale, request.headers[WATERMARK_HEADER], 'watermark');
  // A key that is not in the store yet is for the gateway.
  if (ticket === undefined || watermark === undefined) return request;
  const path_of = '/v1/sales/' + sale;
  // The store may name a round that is over: the next one's tickets and watermarks are as good, since nobody else can seal them.
  if (ticket === null || ticket.readUInt32BE(3) < Number(round)) {
    return refusal(403, 'no_ticket', 'This sale has a line', { tickets_path: path_of + '/tickets' });
  }
  if (watermark === null || watermark.readUInt32BE(2) !== ticket.readUInt32BE(3) || !admits(watermark, ticket)) {
    return refusal(409, 'not_your_turn', 'It is not your turn yet', { line_path: path_of + '/line' });
  }
  return request;
}

// The sealed bytes of a header without their tag. Null if this system did not seal them for this sale, undefined if nobody here
// knows their key.
async function opened(kvs, sale, header, kind) {
  const text = header === undefined ? '' : header.value;
  if (!/^[A-Za-z0-9_-]{60,410}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  // One text for the same bytes.
  if (bytes.toString('base64url') !== text || bytes[0] !== VERSION) return null;
  let key;
  try {
    key = Buffer.from(JSON.parse(await kvs.get('key:' + bytes[1]))[kind], 'hex');
  } catch (absent) {
    return undefined;
  }
  const body = bytes.slice(0, bytes.length - TAG);
  const length = Buffer.alloc(8);
  length.writeUInt32BE(sale.length, 4);
  const tag = hmac(key, [length, Buffer.from(sale), body]);
  const given = bytes.slice(bytes.length - TAG);
  let differs = 0;
  for (let i = 0; i < TAG; i++) differs |= tag[i] ^ given[i];
  return differs === 0 ? body : null;
}

function hmac(key, parts) {
  const mac = crypto.createHmac('sha256', key);
  mac.update(Buffer.concat(parts));
  return mac.digest();
}

// Whether the line has come to a ticket: `Watermark::admits` of shared/pass/src/line.
function admits(watermark, ticket) {
  const early = watermark.readUInt32BE(6);
  const late_s = watermark.readUInt32BE(10) * 4294967296 + watermark.readUInt32BE(14);
  const late = watermark.readUInt32BE(18);
  const ppb = parts(hmac(watermark.slice(22), [ticket.slice(15)]));
  if (ticket[2] === 0) return ppb < early;
  const second = ticket.readUInt32BE(7) * 4294967296 + ticket.readUInt32BE(11);
  return early >= WHOLE_PPB && (second < late_s || (second === late_s && ppb < late));
}

// The first 8 bytes as a fraction of 2^64, in parts per billion. Without BigInt: 16 bits times 30 bits are exact.
function parts(digest) {
  let carry = 0;
  for (let i = 6; i >= 0; i -= 2) carry = Math.floor((digest.readUInt16BE(i) * WHOLE_PPB + carry) / 65536);
  return carry;
}

function refusal(status, code, title, members) {
  return {
    statusCode: status,
    headers: {
      'content-type': { value: 'application/problem+json' },
      'cache-control': { value: 'no-store' },
      'retry-after': { value: '2' },
    },
    body: JSON.stringify(Object.assign({ status: status, title: title, code: code }, members)),
  };
}
