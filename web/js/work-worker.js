// Tries answers until the SHA-256 of `ID:ANSWER` begins with a given number of zero bits.

import { leadingZeros, message, sha256 } from '../../clients/typescript/src/sha256.js';

const TRIES_BETWEEN_REPORTS = 50_000;

onmessage = ({ data: { id, bits } }) => {
  const text = message(`${id}:`);
  for (let tries = 0; ; tries += 1) {
    if (leadingZeros(sha256(text, String(tries))) >= bits) {
      postMessage({ answer: String(tries) });
      return;
    }
    if (tries % TRIES_BETWEEN_REPORTS === 0) postMessage({ tries });
  }
};
