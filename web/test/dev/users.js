// The stand-in's users: tokens that look like an issuer's, and are valid because they are remembered.

import { randomBytes } from 'node:crypto';
import { Answer, problem } from './sales.js';

const LIFE_MS = 3_600_000;
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export class Users {
  #tokens = new Map();

  issue(user, operator, claims = {}, lifeMs = LIFE_MS) {
    const expires = Date.now() + lifeMs;
    const token = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ sub: user, iat: Math.floor(Date.now() / 1000), exp: Math.ceil(expires / 1000), ...claims })}.${randomBytes(16).toString('base64url')}`;
    this.#tokens.set(token, { user, operator, expires });
    return { token, expires_at: new Date(expires).toISOString() };
  }

  byToken(token) {
    const found = this.#tokens.get(token);
    return found && found.expires > Date.now() ? found : null;
  }

  of(headers, operator) {
    const found = this.byToken(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]);
    if (!found) throw new Answer(401, { message: 'Unauthorized' });
    if (operator && !found.operator) throw problem(403, 'forbidden');
    return found.user;
  }
}
