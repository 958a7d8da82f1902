// Makes the JSON Schemas of the merchant's events.

import { parse } from 'yaml';
import { read } from './files.js';
import { map, schema } from './schema.js';

/** The schemas, by the events' types. */
export function events(text = read('events.yaml')) {
  const { types, events: given } = parse(text, { merge: true });
  // Each schema stands alone, so what it refers to becomes a part of it.
  const inline = (value) =>
    Array.isArray(value) || typeof value !== 'object'
      ? value
      : map(value.$ref ? { ...schema(types[value.$ref.split('/').pop()]), ...value, $ref: undefined } : value, inline);
  return map(given, ({ example, properties, ...event }, type) => {
    const all = { ...properties, type: { const: type, description: "What happened; also the event's `detail-type`." } };
    return {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:flash-sale:event:${type}:${properties.version.const}`,
      ...inline(schema({ ...event, properties: all, open: true })),
      examples: [{ ...example, type }],
    };
  });
}
