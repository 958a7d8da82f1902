import { openapi } from '../openapi/document.js';
import { ANSWERING } from './functions.ts';
import { THROTTLED_ROUTES, type ThrottledRoute } from './settings.ts';

const METHODS = ['GET', 'POST', 'DELETE'] as const;
/** Who authenticates the caller, by the document's security schemes. */
const CHECKED_BY = { bearer: 'jwt', webhookSignature: 'signature' } as const;

export interface Route {
  method: (typeof METHODS)[number];
  path: string;
  to: (typeof ANSWERING)[number];
  /** `jwt`: the gateway verifies the token. `signature`: the function verifies the caller's signature. `nobody`: it is public. */
  checkedBy: (typeof CHECKED_BY)[keyof typeof CHECKED_BY] | 'nobody';
  /** The setting that throttles it separately, below the total. */
  throttle?: ThrottledRoute;
}

interface Operation {
  'x-function'?: string;
  'x-throttle'?: string;
  security?: object[];
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  security: object[];
}

/** Returns the value if it is one of `known`; `what` names it in the error. */
function oneOf<T extends string>(what: string, known: readonly T[], value: string | undefined): T {
  const found = known.find((each) => each === value);
  if (found !== undefined) return found;
  throw new Error(`api.yaml, ${what}: ${value ?? 'missing'}, which is not one of ${known.join(', ')}`);
}

/** The routes of an OpenAPI document: one for each operation, in its order. */
export function routesOf(document: Document): Route[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([key, operation]): Route => {
      const at = `${key} ${path}`;
      const { 'x-function': to, 'x-throttle': throttle, security = document.security } = operation;
      const schemes = security.flatMap((each) => Object.keys(each));
      if (schemes.length > 1) throw new Error(`api.yaml, ${at}: one scheme can check a caller, not ${schemes.length}`);
      const [scheme] = schemes;
      return {
        method: oneOf(`method of ${at}`, METHODS, key.toUpperCase()),
        path,
        to: oneOf(`x-function of ${at}`, ANSWERING, to),
        checkedBy:
          scheme === undefined
            ? 'nobody'
            : CHECKED_BY[oneOf(`security of ${at}`, ['bearer', 'webhookSignature'] as const, scheme)],
        ...(throttle !== undefined && { throttle: oneOf(`x-throttle of ${at}`, THROTTLED_ROUTES, throttle) }),
      };
    }),
  );
}

/** Every route of the API. */
export const ROUTES: readonly Route[] = routesOf(openapi());
