// Made-up answers of the system.

/** An answer for `route.fulfill`. */
export const json = (status, body, headers = {}) => ({
  status, headers, contentType: status < 400 ? 'application/json' : 'application/problem+json', body: JSON.stringify(body),
});

export const problem = (status, code, more = {}, headers = {}) => json(status, { status, code, title: '', ...more }, headers);

/** Answers requests for cards of sales with `changes`, or with what that returns, whenever a page loads one. */
export const cardSays = (page, changes) => page.route(/\/v1\/sales\/[\w-]+$/, async (route) => {
  const response = await route.fetch({ maxRetries: 2 });
  await route.fulfill({ response, json: { ...(await response.json()), ...(typeof changes === 'function' ? changes() : changes) } });
});
