// An AsyncAPI document held to the specification: to its JSON schema, and to what the schema cannot say.

import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: a document may have any shape.
type Any = any;

/** The newest version, so that a document of an older one is wrong. */
const schema = Object.values(specs.schemasWithoutId).at(-1) as object;
const ajv = new Ajv({ strict: false });
(formats as unknown as { default: (ajv: Ajv) => void }).default(ajv);
const validate = ajv.compile(schema);

/** Where the specification wants a reference and nothing else. */
const REFERENCE = /^\/(?:operations\/[^/]+\/(?:channel|messages\/\d+)|channels\/[^/]+\/servers\/\d+)$/;

/** What is wrong with a document. */
export function documentErrors(document: Any): string[] {
  const missing = new Set<string>();
  // Each reference replaced by what it names, which shows whether that may be there.
  const resolved = (value: Any, path = ''): Any => {
    if (typeof value !== 'object' || value === null) return value;
    if (typeof value.$ref === 'string') {
      const target = at(document, value.$ref);
      if (target === undefined) missing.add(`${value.$ref} does not exist`);
      else if (!REFERENCE.test(path)) return resolved(target, path);
    }
    if (Array.isArray(value)) return value.map((item, index) => resolved(item, `${path}/${index}`));
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item, `${path}/${name}`)]));
  };
  const whole = resolved(document);
  if (missing.size > 0) return [...missing];
  const malformed = [document, whole].flatMap(schemaErrors);
  return malformed.length > 0 ? malformed : ruleErrors(whole);
}

function at(document: Any, ref: string): Any {
  if (!ref.startsWith('#/')) return undefined;
  const names = ref.slice(2).split('/');
  return names.reduce((part, name) => part?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

function schemaErrors(document: Any): string[] {
  validate(document);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function ruleErrors({ channels = {}, operations = {}, servers = {} }: Any): string[] {
  const errors: string[] = [];
  const hold = (rule: boolean, error: string) => rule || errors.push(error);
  const variables = (name: string, text: string, described: object = {}) => {
    const used = [...text.matchAll(/\{([^}]+)\}/g)].map(([, variable]) => variable);
    hold(`${used.sort()}` === `${Object.keys(described).sort()}`, `${name} uses {${used}}, and describes {${Object.keys(described)}}`);
  };
  for (const [name, server] of Object.entries<Any>(servers)) variables(name, server.host + (server.pathname ?? ''), server.variables);
  for (const [name, channel] of Object.entries<Any>(channels)) {
    variables(name, channel.address ?? '', channel.parameters);
    hold(!/[?#]/.test(channel.address ?? ''), `the address of ${name} has a query or a fragment`);
    for (const { $ref } of channel.servers ?? []) hold(/^#\/servers\/[^/]+$/.test($ref), `${name} is at ${$ref}, which is no server`);
  }
  for (const [name, { channel, messages = [] }] of Object.entries<Any>(operations)) {
    hold(/^#\/channels\/[^/]+$/.test(channel.$ref), `${name} is of ${channel.$ref}, which is no channel`);
    for (const { $ref } of messages) hold($ref.startsWith(`${channel.$ref}/messages/`), `${$ref} of ${name} is no message of its channel`);
  }
  return errors;
}
