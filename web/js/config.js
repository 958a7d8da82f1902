// What this deployment says of itself.

let loading = null;

/** `{login, pay, push_url}` of `/config.json`, asked once. */
export function config() {
  loading ??= fetch('/config.json', { credentials: 'omit' })
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`config: ${response.status}`))))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}
