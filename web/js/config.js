// What this deployment says of itself.

let loading = null;

/** `{login, pay, push_url, contact}` of `/config.json`, asked once. The page's head has begun to load it. */
export function config() {
  loading ??= fetch('/config.json')
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`config: ${response.status}`))))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}
