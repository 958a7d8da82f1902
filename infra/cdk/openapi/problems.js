// What may refuse an operation's requests: problems of its function, and the gateway itself.

import { STATUS_CODES } from 'node:http';
import { map, ref, schema } from './schema.js';

/** Each problem by its code: what shared/api/src/problem.rs says, and what api.yaml adds. */
export function problemsOf(rust, added) {
  const status = (constant) =>
    Number(Object.keys(STATUS_CODES).find((each) => STATUS_CODES[each].toUpperCase().replace(/ /g, '_') === constant));
  const rows = rust.matchAll(/^ {4}\/\/\/ (.*)\n {4}(\w+) = (\w+), "(.*)";$/gm);
  const known = Object.fromEntries(
    [...rows].map(([, description, name, constant, title]) => {
      const code = name.replace(/\B[A-Z]/g, '_$&').toLowerCase();
      return [code, { name, description, title, code, status: status(constant) }];
    }),
  );
  return { ...known, ...map(added, (more, code) => ({ ...known[more.code ?? code], ...more })) };
}

/** The schema of a problem. What the problem means is said by the answers that have it. */
export const schemaOf = ({ code, status, properties }) =>
  schema({ allOf: ['Problem'], properties: { code: [code], status: [status], ...properties } });

/** Whether the gateway checks a token. */
const hasToken = (security) => security.some((scheme) => 'bearer' in scheme);

/** The problems that an operation lists, and those that any request like its own may get. */
function problemsFor({ path, security, asks, hasBody, problems = [] }, known, unknown) {
  const operators = path.startsWith('/v1/admin/');
  const listed = Object.assign({}, ...problems.map((each) => (typeof each === 'string' ? { [each]: {} } : each)));
  const last = /.*\{(\w+)\}/.exec(path)?.[1];
  const codes = [
    ...(last in unknown ? [unknown[last]] : []),
    ...Object.keys(listed),
    ...(asks ? ['invalid_request'] : []),
    ...(security.length > 0 ? ['unauthorized'] : []),
    ...(operators ? ['forbidden'] : []),
    ...(hasToken(security) && !operators ? ['rate_limited'] : []),
    ...(hasBody ? ['too_large', 'unsupported_media_type'] : []),
    'internal',
    'overloaded',
  ];
  return [...new Set(codes)].map((code) => {
    if (!(code in known)) throw new Error(`api.yaml, ${path}: ${code} is no problem`);
    const own = listed[code];
    return { ...known[code], ...(typeof own === 'string' ? { description: own } : own) };
  });
}

function answer(problems, byGateway, cached, headers) {
  const sent = Object.entries(headers).filter(([, header]) => {
    const codes = header['x-sent-with'] ?? header['x-may-be-sent-with'] ?? [];
    return problems.some(({ code }) => codes.includes(code));
  });
  const schemas = problems.map(({ name }) => ref('schemas', name));
  const examples = problems.map(({ status, title, code, example }) => ({ value: { status, title, code, ...example } }));
  return {
    description: problems.map(({ description }) => description).join(' ') || byGateway.description,
    ...(problems.length > 0 && {
      headers: {
        'Cache-Control': ref('headers', cached ? 'Absent-Cache-Control' : 'Problem-Cache-Control'),
        ...Object.fromEntries(sent.map(([name]) => [name.replace(/^(Retry-After)-.*/, '$1'), ref('headers', name)])),
      },
    }),
    content: {
      ...(problems.length > 0 && {
        'application/problem+json': {
          schema: schemas.length === 1 ? schemas[0] : { oneOf: schemas },
          examples: Object.fromEntries(problems.map(({ name }, index) => [name, examples[index]])),
        },
      }),
      ...(byGateway && {
        'application/json': { schema: ref('schemas', 'GatewayMessage'), example: { message: byGateway.message } },
      }),
    },
  };
}

/** An operation's refusals by status. Those that several operations share go into `responses`. */
export function refusals(operation, { problems: known, unknown, gateway, headers, responses }) {
  const { path, security, asks, cache } = operation;
  const problems = problemsFor(operation, known, unknown);
  const own = [...(asks ? [400] : []), ...(hasToken(security) ? [401, 403] : []), 413, 414, 429, 500, 503];
  // What is empty in a path matches no route.
  if (path.includes('{') && problems.some(({ status }) => status === 404)) own.push(404);
  const statuses = [...new Set([...problems.map(({ status }) => status), ...own])].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const its = problems.filter((problem) => problem.status === status);
      const byGateway = own.includes(status) && gateway[status];
      const cached = cache?.problems.includes(status);
      const made = answer(its, byGateway, cached, headers);
      const parts = [status, ...its.map((each) => each.name), byGateway && 'Gateway', cached && 'Cached'];
      const name = parts.filter(Boolean).join('-');
      responses[name] ??= made;
      return [status, JSON.stringify(responses[name]) === JSON.stringify(made) ? ref('responses', name) : made];
    }),
  );
}
