// What a schema finds wrong, and asyncapi.yaml with a message.

import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { atRoot } from '../bin/files.js';

const ajv = new Ajv({ strict: false });
(formats as unknown as { default: (ajv: Ajv) => void }).default(ajv);

export function errorsBy(schema: object): (value: unknown) => string[] {
  const validate = ajv.compile(schema);
  return (value) => {
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

export const asyncapi = parse(await readFile(atRoot('asyncapi.yaml'), 'utf8'));
const { schemas } = asyncapi.components;

/** What is wrong with a message of push. */
export const messageErrors = errorsBy({ $ref: '#/components/schemas/ReservationMessage', components: { schemas } });
