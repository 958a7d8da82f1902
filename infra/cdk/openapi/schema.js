// Schemas in the short form of api.yaml.

import { parse } from 'yaml';

const SHORT = new RegExp(
  [
    /^(?<name>\w+(?:\|\w+)*)/, // SaleId, or one of paid|free
    /(?<list>\[\])?/, // SaleId[]
    /(?: (?<low>\d*)(?:\.\.(?<high>\d+)|\+))?/, // integer 1..20, or 1+
    /(?: \/(?<pattern>.+?)\/(?=\. | or null|$))?/, // string /[a-z]+/
    /(?: = (?<preset>\S+))?/, // integer = 3
    /(?<nullable> or null)?/, // SaleId or null
    /(?:\. (?<description>.*))?$/, // SaleId. The id of the sale.
  ]
    .map(({ source }) => source)
    .join(''),
  's',
);
const BOUNDS = {
  boolean: [],
  integer: ['minimum', 'maximum'],
  string: ['minLength', 'maxLength'],
  list: ['minItems', 'maxItems'],
};

export const map = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));

/** Of names that end in `?` if it may be absent: each without, and what becomes of its value. */
export const named = (object, change) =>
  Object.fromEntries(
    Object.entries(object ?? {}).map(([key, value]) => {
      const name = key.replace(/\?$/, '');
      return [name, change(value, name === key, name)];
    }),
  );

export const ref = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });

function fromText(text) {
  const short = SHORT.exec(text)?.groups;
  if (short === undefined) throw new Error(`api.yaml: ${text} is no schema`);
  const { name, list, low, high, pattern, preset, nullable, description } = short;
  const plain = name in BOUNDS;
  const one = plain ? { type: name } : name.includes('|') ? { enum: name.split('|') } : ref('schemas', name);
  const orNull = () => (plain ? { type: [name, 'null'] } : { oneOf: [one, { type: 'null' }] });
  const [lowest, highest] = BOUNDS[list ? 'list' : name] ?? [];
  return {
    ...(list ? { type: 'array', items: one } : nullable ? orNull() : one),
    ...(low && { [lowest]: Number(low) }),
    ...(high && { [highest]: Number(high) }),
    ...(pattern && { pattern }),
    ...(preset && { default: parse(preset) }),
    ...(description && { description }),
  };
}

/** The schema that a short form stands for. */
export function schema(value) {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return fromText(value);
  if (Array.isArray(value)) return value.length === 1 ? { const: value[0] } : { enum: value };
  const { properties, open, required: more = [], oneOf, allOf, items, additionalProperties, by, ...rest } = value;
  const required = [...Object.keys(properties ?? {}).filter((name) => !name.endsWith('?')), ...more];
  const each = (list) => list.map((one) => (typeof one === 'string' ? fromText(one) : one));
  return {
    ...rest,
    ...(allOf && { allOf: each(allOf) }),
    ...(oneOf && { oneOf: each(by ? [...new Set(Object.values(oneOf))] : oneOf) }),
    ...(by && { discriminator: { propertyName: by, mapping: map(oneOf, (name) => ref('schemas', name).$ref) } }),
    ...(items && { type: 'array', items: schema(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: schema(additionalProperties) }),
    ...(required.length > 0 && { required }),
    ...(properties && {
      type: 'object',
      properties: named(properties, schema),
      ...(!open && { [allOf ? 'unevaluatedProperties' : 'additionalProperties']: false }),
    }),
  };
}
