// What this deployment says of itself.

import { clock } from './clock.js';

let loading = null;

/** `{login, pay, push_url, contact}` of `/config.json`, asked once. The page's head has begun to load it. */
export function config() {
  loading ??= asked()
    .catch((error) => {
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
  clock.sample({ sentAt, heardAt: performance.now(), serverTime: headers.get('date'), age: headers.get('age'), coarse: true });
  return response.json();
}
