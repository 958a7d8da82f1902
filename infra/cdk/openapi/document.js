// Makes the OpenAPI document of api.yaml.

import { parse } from 'yaml';
import { read } from './files.js';
import { problemsOf, refusals, schemaOf } from './problems.js';
import { map, named, ref, schema } from './schema.js';

const KEY = /^(?<method>GET|POST|DELETE) (?<path>\S+) as (?<operationId>\w+)$/;
const STATUS = /^\d+$/;

const pick = (object, fits) => Object.fromEntries(Object.entries(object).filter(([key]) => fits(key)));

/** A parameter or a header: what describes it, and what its schema is. */
function described(value) {
  const { description, ...rest } = schema(value);
  return { ...(description && { description }), schema: rest };
}

const parameters = (place, given) =>
  named(given, (value, required, name) => ({ name, in: place, required, ...described(value) }));

const json = (value, { example, examples }) => ({
  'application/json': {
    schema: schema(value),
    ...(example && { example }),
    ...(examples && { examples: map(examples, (value) => ({ value })) }),
  },
});

function body(given) {
  const { schema: of, required = true, description, ...rest } = typeof given === 'string' ? { schema: given } : given;
  return { ...(description && { description }), required, content: json(of, rest) };
}

/** The answers of an operation that succeeds. */
function successes(given, cache, examples) {
  const always = {
    'Cache-Control': ref('headers', cache?.header ?? 'Cache-Control'),
    ...(cache?.etag && { ETag: ref('headers', 'ETag') }),
  };
  const answers = map(given, (answer) => {
    const { schema: of, headers, content, ...rest } = typeof answer === 'string' ? { schema: answer } : answer;
    const { schema: json_, ...about } = of ? described(of) : {};
    return {
      ...rest,
      ...about,
      headers: { ...always, ...named(headers, (value, required) => ({ required, ...described(value) })) },
      ...(of && { content: json(json_, examples) }),
      ...(content && { content: map(content, (each) => ({ ...each, schema: schema(each.schema) })) }),
    };
  });
  if (cache?.etag) answers[304] = { description: "The client's copy is current.", headers: always };
  return answers;
}

/** The OpenAPI document. */
export function openapi(text = read('api.yaml'), rust = read('shared/api/src/problem.rs')) {
  const { gateway, caches, functions, unknown, problems: more, paths, components, ...head } = parse(text, { merge: true });
  const problems = problemsOf(rust, more);
  const responses = {};

  function operation({ path, operationId }, given) {
    const { query, headers = [], requestBody, problems: listed, cache: cached, example, examples, ...rest } =
      pick(given, (name) => !STATUS.test(name));
    const { 'x-function': of = path.startsWith('/v1/admin/') ? 'admin' : undefined } = rest;
    const cache = caches[cached];
    const { security = cache ? [] : head.security } = rest;
    const hasBody = requestBody !== undefined;
    const sent = [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ref('parameters', name)),
      ...Object.values(parameters('query', query)),
      ...headers.flatMap((header) =>
        typeof header === 'string' ? ref('parameters', header) : Object.values(parameters('header', header)),
      ),
    ];
    const own = { path, security, asks: sent.length > 0 || hasBody, hasBody, cache, problems: listed };
    if (cache?.etag) sent.push(ref('parameters', 'If-None-Match'));
    return {
      tags: functions[of],
      operationId,
      'x-function': of,
      ...rest,
      ...(cache && { security }),
      ...(sent.length > 0 && { parameters: sent }),
      ...(hasBody && {
        requestBody: requestBody in components.requestBodies ? ref('requestBodies', requestBody) : body(requestBody),
      }),
      responses: {
        ...successes(pick(given, (name) => STATUS.test(name)), cache, { example, examples }),
        ...refusals(own, { problems, unknown, gateway, headers: components.headers, responses }),
      },
    };
  }

  const items = {};
  for (const [key, given] of Object.entries(paths)) {
    const found = KEY.exec(key)?.groups;
    if (found === undefined) throw new Error(`api.yaml: ${key} is not an operation`);
    (items[found.path] ??= {})[found.method.toLowerCase()] = operation(found, given);
  }

  return {
    ...head,
    paths: items,
    components: {
      ...components,
      parameters: { ...parameters('path', components.parameters.path), ...parameters('header', components.parameters.header) },
      requestBodies: map(components.requestBodies, body),
      headers: map(components.headers, ({ schema: of, ...header }) => ({ ...header, ...described(of) })),
      responses,
      schemas: {
        ...map(components.schemas, schema),
        ...Object.fromEntries(Object.values(problems).map((problem) => [problem.name, schemaOf(problem)])),
      },
    },
  };
}
