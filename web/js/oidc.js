// Signs in at an OpenID Connect issuer (authorization code with PKCE, for a client without a secret), and renews sessions with
// refresh tokens. Loaded when a user signs in or a session is renewed. The server's `clock` is a parameter: with an import, the bundler
// would put it into a chunk that every page loads.

import * as oauth from 'oauth4webapi';

const STORED = 'signing-in';
const TOLERANCE_S = 60;
/** Tabs wait for each other, so waiting for an issuer needs a limit. */
const TIMEOUT_MS = 10_000;

const here = () => location.origin + location.pathname;

/** The common input of all requests: `{server, client, options}`. */
async function issuerOf({ issuer, client_id: id }, clock) {
  const url = new URL(issuer);
  // An issuer on a developer's machine. A page that came by TLS could not reach one on the network.
  const insecure = url.protocol === 'http:' ? { [oauth.allowInsecureRequests]: true } : {};
  const options = { signal: () => AbortSignal.timeout(TIMEOUT_MS), ...insecure };
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
  // The issuer's clock is assumed to be right; this device's may be wrong.
  const client = { client_id: id, [oauth.clockSkew]: Math.round((clock.now() - Date.now()) / 1000), [oauth.clockTolerance]: TOLERANCE_S };
  return { server, client, options };
}

function keptOf(answer, refresh = null) {
  const { sub: user, exp, iat } = oauth.getValidatedIdTokenClaims(answer);
  return { user, token: answer.id_token, refresh: answer.refresh_token ?? refresh, until: exp * 1000, since: iat * 1000 };
}

/** Leaves the page; after the sign-in it is loaded again at the same place. */
export async function redirectToIssuer(login, clock) {
  const { server, client } = await issuerOf(login, clock);
  const [state, nonce, verifier] = [oauth.generateRandomState(), oauth.generateRandomNonce(), oauth.generateRandomCodeVerifier()];
  sessionStorage.setItem(STORED, JSON.stringify({ state, nonce, verifier, hash: location.hash }));
  const url = new URL(server.authorization_endpoint);
  // Some issuers send a refresh token only if this scope is requested, and others reject the scope.
  const offline = server.scopes_supported?.includes('offline_access') ? ' offline_access' : '';
  for (const [name, value] of Object.entries({
    response_type: 'code', client_id: client.client_id, redirect_uri: here(), scope: `openid${offline}`, state, nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })) url.searchParams.set(name, value);
  location.assign(url);
}

/** Finishes a sign-in after the issuer's redirect: `{user, token, refresh, until, since}`; null if this is not one, or it failed. */
export async function finished(login, clock) {
  const begun = JSON.parse(sessionStorage.getItem(STORED) ?? 'null');
  if (login.kind !== 'oidc' || begun === null) return null;
  const query = new URL(location.href);
  sessionStorage.removeItem(STORED);
  history.replaceState(null, '', location.pathname + begun.hash);
  query.hash = '';
  try {
    const { server, client, options } = await issuerOf(login, clock);
    const answered = oauth.validateAuthResponse(server, client, query, begun.state);
    const response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answered, here(), begun.verifier, options);
    return keptOf(await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: begun.nonce, requireIdToken: true }));
  } catch {
    return null;
  }
}

/** Renews the session with its refresh token; null if the issuer refuses. Throws if the issuer does not answer. */
export async function refreshed(login, { user, refresh }, clock) {
  const { server, client, options } = await issuerOf(login, clock);
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, options);
  try {
    const answer = await oauth.processRefreshTokenResponse(server, client, response);
    const next = answer.id_token ? keptOf(answer, refresh) : null;
    return next?.user === user ? next : null;
  } catch (error) {
    // Other refusals are temporary, for example because of too many requests.
    if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') return null;
    throw error;
  }
}
