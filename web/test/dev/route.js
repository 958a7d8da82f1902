// What the stand-in's tables of routes are made of.

export const ok = (body, status = 200, headers = {}) => ({ status, body, headers });

/** A row of the table. `:name` matches one segment of a path. */
export const route = (method, path, who, answer) => ({ method, pattern: new RegExp(`^${path.replace(/:\w+/g, '([^/]+)')}$`), who, answer });
