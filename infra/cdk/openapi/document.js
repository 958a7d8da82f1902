// Makes the OpenAPI document of api.yaml.

import { parse } from 'yaml';
import { read } from './files.js';
import { problemsOf, refusals, schemaOf } from './problems.js';
import { map, named, ref, schema } from './schema.js';

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
function successes({ responses, cache, ...examples }) {
  const always = {
    'Cache-Control': ref('headers', cache?.header ?? 'Cache-Control'),
    ...(cache?.etag && { ETag: ref('headers', 'ETag') }),
  };
  const answers = map(responses, (given) => {
    const { schema: of, headers, content, ...rest } = typeof given === 'string' ? { schema: given } : given;
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
  const { gateway, caches, functions, problems: more, paths, components, ...head } = parse(text, { merge: true });
  const problems = problemsOf(rust, more);
  const responses = {};

  function operation(path, given) {
    const { query, headers = [], requestBody, responses: _, problems: listed, cache: cached, example, examples, ...rest } =
      given;
    const { security = head.security } = rest;
    const cache = caches[cached];
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
      tags: functions[given['x-function']],
      ...rest,
      ...(sent.length > 0 && { parameters: sent }),
      ...(hasBody && {
        requestBody: requestBody in components.requestBodies ? ref('requestBodies', requestBody) : body(requestBody),
      }),
      responses: {
        ...successes({ ...given, cache }),
        ...refusals(own, { problems, gateway, headers: components.headers, responses }),
      },
    };
  }

  return {
    ...head,
    paths: map(paths, (item, path) => map(item, (given) => operation(path, given))),
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
