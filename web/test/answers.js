// Made-up answers of the system.

export const json = (status, body, headers = {}) => ({
  status, headers, contentType: status < 400 ? 'application/json' : 'application/problem+json', body: JSON.stringify(body),
});

export const problem = (status, code, more = {}, headers = {}) => json(status, { status, code, title: '', ...more }, headers);

/** Answers requests to such an address as the system does, with `changes`, or what that returns, in the JSON. */
export const amended = (page, address, changes) => page.route(address, async (route) => {
  const response = await route.fetch({ maxRetries: 2 });
  await route.fulfill({ response, json: { ...(await response.json()), ...(typeof changes === 'function' ? changes() : changes) } });
});

/** The same for cards of sales. */
export const cardSays = (page, changes) => amended(page, /\/v1\/sales\/[\w-]+$/, changes);
