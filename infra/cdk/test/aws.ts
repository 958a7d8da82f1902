import { Readable } from 'node:stream';
import { awsIn } from '../deploy/aws.ts';

/** An answer from AWS. */
export interface Recorded {
  status?: number;
  /** An object is sent as JSON, a string as XML. */
  body: object | string;
  /** The type of an error in JSON. */
  error?: string;
}

/** The operation of a request: in a header (JSON), in the body (Query), or by its path (REST). */
function operationOf({ headers, body, path, method }: { headers: Record<string, string>; body?: unknown; path: string; method: string }): string {
  const target = headers['x-amz-target'];
  if (target !== undefined) return target.split('.').at(-1)!;
  const action = String(body ?? '').match(/(?:^|&)Action=(\w+)/)?.[1];
  return action ?? `${method} ${decodeURIComponent(path).replace(/\/$/, '')}`;
}

/** AWS with recorded answers by operation; also records the requests. An operation without an answer fails the test. */
export function recordedAws(region: string, answers: Record<string, Recorded>) {
  const asked: { operation: string; body: string }[] = [];
  const requestHandler = {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: async (request: any) => {
      const operation = operationOf(request);
      const body = request.body === undefined ? '' : Buffer.from(request.body).toString();
      asked.push({ operation, body });
      const found = answers[operation];
      if (found === undefined) throw new Error(`nothing is recorded for ${operation}`);
      const { status = 200, body: answer, error } = found;
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      const type = typeof answer === 'string' ? 'text/xml' : 'application/x-amz-json-1.1';
      const headers = { 'content-type': type, ...(error === undefined ? {} : { 'x-amzn-errortype': error }) };
      return { response: { statusCode: status, headers, body: Readable.from([Buffer.from(text)]) } };
    },
  };
  const aws = awsIn(region, {
    requestHandler: requestHandler as never,
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'nobody checks it' },
    maxAttempts: 1,
  });
  return { ...aws, asked };
}

/** An error from a service that uses JSON. */
export function refused(error: string, message = 'refused'): Recorded {
  return { status: 400, error, body: { __type: error, message } };
}

/** An error from a service that uses XML. */
export function refusedXml(code: string, message: string): Recorded {
  return {
    status: 400,
    body: `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  };
}
