// The deployment's settings for its pages.

import { clock } from './clock.js';

let loading = null;

/** `{login, pay, push_url, contact}` of `/config.json`, requested once. The page's head has already started to load it. */
export function config() {
  loading ??= asked().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function asked() {
  const sentAt = performance.now();
  const response = await fetch('/config.json');
  if (!response.ok) throw new Error(`config: ${response.status}`);
  const headers = response.headers;
  const heardAt = performance.now();
  const all = await response.json();
  // After a sign-in, tokens are checked before the API's first answer gives the time.
  if (all.login.kind === 'oidc') clock.sample({ sentAt, heardAt, serverTime: headers.get('date'), age: headers.get('age'), coarse: true });
  return all;
}
