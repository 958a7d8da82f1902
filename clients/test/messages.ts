// Messages held to asyncapi.yaml.

import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { atRoot } from '../bin/files.js';

const { schemas } = parse(await readFile(atRoot('asyncapi.yaml'), 'utf8')).components;
const ajv = new Ajv({ strict: false });
(formats as unknown as { default: (ajv: Ajv) => void }).default(ajv);
const validate = ajv.compile({ $ref: '#/components/schemas/ReservationMessage', components: { schemas } });

/** What is wrong with a message of push. */
export function messageErrors(message: unknown): string[] {
  validate(message);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
