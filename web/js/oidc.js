// Signing in at an OpenID Connect issuer: authorization code with PKCE, for a client without a secret.

import { session } from './session.js';

const STORED = 'signing-in';

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (c) => ({ '+': '-', '/': '_', '=': '' })[c]);
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

async function endpoints({ issuer }) {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error(`issuer: ${response.status}`);
  return response.json();
}

const here = () => location.origin + location.pathname;

/** Leaves the page; it is loaded again afterwards, where one was. */
export async function redirectToIssuer(login) {
  const { authorization_endpoint: url } = await endpoints(login);
  const [state, verifier, nonce] = [random(), random(), random()];
  sessionStorage.setItem(STORED, JSON.stringify({ state, verifier, nonce, hash: location.hash }));
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
  const query = new URLSearchParams({
    response_type: 'code', client_id: login.client_id, redirect_uri: here(), scope: 'openid', state, nonce,
    code_challenge: challenge, code_challenge_method: 'S256',
  });
  location.assign(`${url}?${query}`);
}

/** Finishes a sign-in that comes back from the issuer, if this is one. */
export async function finishSignIn(login) {
  const query = new URLSearchParams(location.search);
  const begun = JSON.parse(sessionStorage.getItem(STORED) ?? 'null');
  if (login.kind !== 'oidc' || !query.has('state') || begun === null) return;
  sessionStorage.removeItem(STORED);
  history.replaceState(null, '', location.pathname + begun.hash);
  if (query.get('state') !== begun.state || !query.has('code')) return;
  const { token_endpoint: url } = await endpoints(login);
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code', code: query.get('code'), client_id: login.client_id, redirect_uri: here(),
      code_verifier: begun.verifier,
    }),
  });
  if (!response.ok) return;
  const { id_token: token } = await response.json();
  const claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(
    atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))));
  // It came straight from the issuer over TLS, so its signature says nothing more; the nonce ties it to this tab.
  if (claims.nonce !== begun.nonce) return;
  session.set({ user: claims.sub, token });
}
