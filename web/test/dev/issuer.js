// An OpenID Connect issuer for the stand-in and a public client: it signs anyone in, and is strict otherwise. Codes and refresh
// tokens work once.

import { createHash, randomBytes } from 'node:crypto';
import { ok, route } from './route.js';

const USER = 'oidc-user';

export function issuerRoutes(users, config, place) {
  const codes = new Map();
  const refreshes = new Set();
  const refused = { status: 400, body: { error: 'invalid_grant' } };

  const granted = (claims) => {
    const { issuer, client_id: aud } = config().login;
    const refresh = randomBytes(16).toString('hex');
    refreshes.add(refresh);
    const { token } = users.issue(USER, false, { iss: issuer, aud, ...claims }, place().tokenLifeMs);
    return ok({ access_token: token, token_type: 'Bearer', expires_in: 3600, id_token: token, refresh_token: refresh });
  };
  const byCode = (form) => {
    const code = codes.get(form.get('code'));
    codes.delete(form.get('code'));
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (code?.challenge !== challenge || code.redirect !== form.get('redirect_uri')) return refused;
    return granted({ nonce: code.nonce });
  };
  const byRefresh = (form) => (refreshes.delete(form.get('refresh_token')) ? granted({}) : refused);

  return [
    route('GET', '/issuer/.well-known/openid-configuration', 'nobody', () => {
      const { issuer } = config().login;
      return ok({
        issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`,
        scopes_supported: ['openid', 'offline_access'], id_token_signing_alg_values_supported: ['RS256'],
      });
    }),
    route('GET', '/issuer/authorize', 'nobody', ({ url: { searchParams: asked } }) => {
      const code = randomBytes(8).toString('hex');
      codes.set(code, { nonce: asked.get('nonce'), challenge: asked.get('code_challenge'), redirect: asked.get('redirect_uri') });
      const back = new URL(asked.get('redirect_uri'));
      back.search = new URLSearchParams({ code, state: asked.get('state') });
      return ok(undefined, 302, { location: back.href });
    }),
    route('POST', '/issuer/token', 'nobody', async ({ text }) => {
      const form = new URLSearchParams(await text());
      return form.get('grant_type') === 'refresh_token' ? byRefresh(form) : byCode(form);
    }),
  ];
}
