import { expect, test } from 'vitest';
import { issuerProblem } from '../deploy/issuer.ts';

const ISSUER = 'https://id.example.com';
const KEYS = `${ISSUER}/keys`;
const RSA = { kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'a', n: 'AQAB', e: 'AQAB' };

/** An issuer with these documents: a string is sent unchanged, a number is a status. */
function issuer(documents: Record<string, unknown>): typeof fetch {
  return async (url) => {
    const document = documents[String(url)];
    if (document === undefined) throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND id.example.com') });
    if (typeof document === 'number') return new Response('', { status: document });
    return new Response(typeof document === 'string' ? document : JSON.stringify(document));
  };
}

const discovery = (more: object = {}) => ({ [`${ISSUER}/.well-known/openid-configuration`]: { issuer: ISSUER, jwks_uri: KEYS, ...more } });
const withKeys = (...keys: object[]) => issuer({ ...discovery(), [KEYS]: { keys } });

test.each([
  ['as API Gateway requires it', ISSUER, withKeys(RSA)],
  ['with a key without optional fields', ISSUER, withKeys({ kty: 'RSA', kid: 'a' })],
  ['with one good key among others', ISSUER, withKeys({ kty: 'EC', crv: 'P-256', kid: 'e' }, RSA)],
  [
    'whose name ends with a slash',
    `${ISSUER}/`,
    issuer({ [`${ISSUER}/.well-known/openid-configuration`]: { issuer: `${ISSUER}/`, jwks_uri: KEYS }, [KEYS]: { keys: [RSA] } }),
  ],
])('an issuer %s is good', async (_, name, ask) => expect(await issuerProblem(name, ask)).toBeUndefined());

test.each([
  ['does not exist', issuer({}), /discovery document cannot be read \(getaddrinfo ENOTFOUND/],
  ['has no discovery document', issuer({ [`${ISSUER}/.well-known/openid-configuration`]: 404 }), /is answered with 404: https:\/\/id\.example\.com\/\.well-known/],
  ['redirects', issuer({ [`${ISSUER}/.well-known/openid-configuration`]: 302 }), /is answered with 302/],
  ['shows a page', issuer({ [`${ISSUER}/.well-known/openid-configuration`]: '<html>' }), /is not a JSON object/],
  ['has another name', issuer(discovery({ issuer: `${ISSUER}/` })), /says that its name is "https:\/\/id\.example\.com\/".*including the slash/],
  ['has no keys', issuer(discovery({ jwks_uri: undefined })), /has no https URL of keys/],
  ['has keys over HTTP', issuer(discovery({ jwks_uri: 'http://id.example.com/keys' })), /has no https URL of keys/],
  ['refuses access to its keys', issuer({ ...discovery(), [KEYS]: 403 }), /its key set is answered with 403/],
  ['has an empty key set', withKeys(), /has no keys/],
  ['signs with elliptic curves', withKeys({ kty: 'EC', alg: 'ES256', kid: 'a' }), /only accepts RSA signing keys .* has EC ES256: let it sign with RS256/],
  ['has a key without an id', withKeys({ ...RSA, kid: undefined }), /RSA RS256 without kid/],
  ['has a key for another use', withKeys({ ...RSA, use: 'enc' }), /only accepts RSA signing keys/],
  ['signs with PSS', withKeys({ ...RSA, alg: 'PS256' }), /has RSA PS256/],
])('one that %s is refused with the reason', async (_, ask, said) => expect(await issuerProblem(ISSUER, ask)).toMatch(said));
