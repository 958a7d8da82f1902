// An OpenID Connect issuer for the stand-in and a public client: it signs anyone in, and is strict otherwise. Codes and refresh
// tokens work once; a refresh token that is used twice ends the whole session, as in RFC 9700.

import { createHash, randomBytes } from 'node:crypto';
import { ok, route } from './route.js';

const USER = 'oidc-user';

export function issuerRoutes(users, config, place) {
  const codes = new Map();
  /** `{family, isUsed}` by refresh token. */
  const refreshes = new Map();
  const refused = { status: 400, body: { error: 'invalid_grant' } };

  const granted = (claims, family) => {
    const { issuer, client_id: aud } = config().login;
    const { tokenLifeMs } = place();
    const refresh = randomBytes(16).toString('hex');
    refreshes.set(refresh, { family, isUsed: false });
    const { token } = users.issue(USER, false, { iss: issuer, aud, ...claims }, tokenLifeMs);
    return ok({ access_token: token, token_type: 'Bearer', expires_in: 3600, id_token: token, refresh_token: refresh });
  };
  const byCode = (form) => {
    const code = codes.get(form.get('code'));
    codes.delete(form.get('code'));
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (code?.challenge !== challenge || code.redirect !== form.get('redirect_uri')) return refused;
    return granted({ nonce: code.nonce }, randomBytes(8).toString('hex'));
  };
  const byRefresh = (form) => {
    const known = refreshes.get(form.get('refresh_token'));
    if (!known) return refused;
    if (known.isUsed) {
      for (const [token, { family }] of refreshes) if (family === known.family) refreshes.delete(token);
      return refused;
    }
    known.isUsed = true;
    return granted({}, known.family);
  };

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
