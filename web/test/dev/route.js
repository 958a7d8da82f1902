// What the stand-in's tables of routes are made of.

export const ok = (body, status = 200, headers = {}) => ({ status, body, headers });

/** A row of the table. `:name` matches one segment of a path. */
export function route(method, path, who, answer) {
  return { method, pattern: new RegExp(`^${path.replace(/:\w+/g, '([^/]+)')}$`), who, answer };
}
