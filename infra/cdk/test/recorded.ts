// AWS with recorded answers to the requests of `./flash deploy` and its relatives, for a healthy shop in eu-central-1. They follow the
// services' API references: there was no account to record from.
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

export const ACCOUNT = '123456789012';
export const TOPIC = `arn:aws:sns:eu-central-1:${ACCOUNT}:flash-sale-alarms`;
export const secretArn = (name: string): string => `arn:aws:secretsmanager:eu-central-1:${ACCOUNT}:secret:${name}-AbCdEf`;
export const CERTIFICATE = `arn:aws:acm:us-east-1:${ACCOUNT}:certificate/11111111-2222-3333-4444-555555555555`;

const xml = (operation: string, result: string, service = 'cloudformation.amazonaws.com/doc/2010-05-15/'): string =>
  `<${operation}Response xmlns="http://${service}"><${operation}Result>${result}</${operation}Result><ResponseMetadata><RequestId>b9b4b068-3a41-11e5-94eb-example</RequestId></ResponseMetadata></${operation}Response>`;

export const identity = (account: string): Recorded => ({
  body: xml('GetCallerIdentity', `<Account>${account}</Account>`, 'sts.amazonaws.com/doc/2011-06-15/'),
});

export function stackIs(status: string, outputs: Record<string, string> = {}): Recorded {
  const members = Object.entries(outputs).map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`);
  const told = members.length === 0 ? '' : `<Outputs>${members.join('')}</Outputs>`;
  return { body: xml('DescribeStacks', `<Stacks><member><StackStatus>${status}</StackStatus>${told}</member></Stacks>`) };
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const templateIs = (template: object): Recorded => ({ body: xml('GetTemplate', `<TemplateBody>${escaped(JSON.stringify(template))}</TemplateBody>`) });

export const NO_STACK: Recorded = refusedXml('ValidationError', 'Stack with id flash-sale does not exist');

/** An answer from `functions/warmup`. */
export const warmed = (rounds: { loaded?: number; present?: number; later?: number; failed?: number }): Recorded => ({
  body: { loaded: 0, present: 0, later: 0, awaiting_beacon: 0, failed: 0, ...rounds },
});

export const subscribed = (subscription: string, endpoint = 'on-call@example.com'): Recorded => {
  const member = `<member><SubscriptionArn>${subscription}</SubscriptionArn><Endpoint>${endpoint}</Endpoint></member>`;
  return { body: xml('ListSubscriptionsByTopic', `<Subscriptions>${member}</Subscriptions>`, 'sns.amazonaws.com/doc/2010-03-31/') };
};

export const bootstrapped = (version: string): Recorded => ({ body: { Parameter: { Value: version } } });

export const executions = (ConcurrentExecutions: number): Recorded => ({ body: { AccountLimit: { ConcurrentExecutions } } });

export const throttle = (Value: number): Recorded => ({
  body: {
    Quotas: [
      { QuotaCode: 'L-00000001', QuotaName: 'API Keys per account', Value: 10_000 },
      { QuotaCode: 'L-00000002', QuotaName: 'Throttle rate', Value },
    ],
  },
});

export function certificateIs(Status: string, DomainName: string, ...others: string[]): Recorded {
  const ResourceRecord = { Name: `_x1.${DomainName}.`, Type: 'CNAME', Value: '_x2.acm-validations.aws.' };
  return { body: { Certificate: { DomainName, SubjectAlternativeNames: [DomainName, ...others], Status, DomainValidationOptions: [{ ResourceRecord }] } } };
}

export const secretIs = (body: object = {}): Recorded => ({ body });

export const secretHas = (SecretString: string, CreatedDate = 1_758_000_000): Recorded => ({ body: { SecretString, CreatedDate } });

/** A healthy issuer. */
export const issuer: typeof fetch = async (url) => {
  const base = 'https://id.example.com';
  const body = String(url).endsWith('openid-configuration') ? { issuer: base, jwks_uri: `${base}/keys` } : { keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'a' }] };
  return new Response(JSON.stringify(body));
};

/** The answers for a healthy shop, by operation. */
export const WELL: Record<string, Recorded> = {
  GetParameter: bootstrapped('28'),
  DescribeStacks: stackIs('UPDATE_COMPLETE'),
  'GET /2016-08-19/account-settings': executions(3_000),
  ListServiceQuotas: throttle(10_000),
  ListSubscriptionsByTopic: subscribed(`${TOPIC}:6b0e71bd`),
  DescribeSecret: secretIs(),
  GetSecretValue: secretHas('{"key1":"k"}'),
};
