import { openapi } from '../openapi/document.js';
import { ANSWERING } from './functions.ts';
import { THROTTLED_ROUTES, type ThrottledRoute } from './settings.ts';

/** Who authenticates the caller, by the document's security schemes. */
const CHECKED_BY: Record<string, 'jwt' | 'signature'> = { bearer: 'jwt', webhookSignature: 'signature' };

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  to: (typeof ANSWERING)[number];
  /** `jwt`: the gateway verifies the token. `signature`: the function verifies the caller's signature. `nobody`: it is public. */
  checkedBy: 'jwt' | 'signature' | 'nobody';
  /** The setting that throttles it separately, below the total. */
  throttle?: ThrottledRoute;
}

interface Document {
  paths: Record<string, Record<string, { 'x-function': Route['to']; 'x-throttle'?: ThrottledRoute; security?: object[] }>>;
  security: object[];
}

/** The routes of an OpenAPI document: one for each operation, in its order. */
export function routesOf({ paths, security: usual }: Document): Route[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([key, { 'x-function': to, 'x-throttle': throttle, security = usual }]): Route => {
      const method = key.toUpperCase() as Route['method'];
      const [scheme, ...others] = security.flatMap((each) => Object.keys(each));
      const checkedBy = scheme === undefined ? 'nobody' : CHECKED_BY[scheme];
      if (checkedBy === undefined || others.length > 0) {
        throw new Error(`api.yaml, ${method} ${path}: one of ${Object.keys(CHECKED_BY).join(', ')} can check a caller; got ${[scheme, ...others].join(', ')}`);
      }
      if (!ANSWERING.includes(to)) throw new Error(`api.yaml, ${method} ${path}: x-function is ${to}, not one of ${ANSWERING.join(', ')}`);
      if (throttle !== undefined && !THROTTLED_ROUTES.includes(throttle)) throw new Error(`api.yaml, ${method} ${path}: x-throttle is ${throttle}, not one of ${THROTTLED_ROUTES.join(', ')}`);
      return { method, path, to, checkedBy, ...(throttle !== undefined && { throttle }) };
    }),
  );
}

/** Every route of the API. */
export const ROUTES: readonly Route[] = routesOf(openapi());
