import { describe, expect, test } from 'vitest';
import { FUNCTIONS, FUNCTION_NAMES, type FunctionName, SCHEDULED } from '../lib/functions.ts';
import { NETWORK_INTERFACE_ACTIONS } from '../lib/rust-function.ts';
import { apiOf, DEPLOYED, functionNamed, type Json, properties, resources, synthesized, target } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);

const items = (...actions: string[]) => actions.map((action) => `dynamodb:${action}`).sort();
const CONSUME = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
const TRACE = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
const READ = ['secretsmanager:GetSecretValue'];
const STREAM = items('DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams');

/**
 * What a function may access, besides logs and network: the table, by actions; indexes; queues, by what is done with them; secrets;
 * and anything else, with its actions.
 */
type Access = { [by in 'table' | 'query' | 'consume' | 'delay' | 'send' | 'count' | 'read']?: string[] } & { other?: Record<string, string[]> };

const ALLOWED: Record<FunctionName, Access> = {
  reservation: {
    table: items('BatchGetItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
    query: ['orders_by_user', 'sales_by_close', 'campaigns_by_id'],
    send: ['orders', 'expiry', 'rebuilds'],
    read: ['passes', 'edge'],
  },
  admission: { table: items('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'), query: ['sales_by_close'], send: ['rebuilds'], read: ['passes', 'edge'] },
  waiting_room: { table: items('BatchGetItem', 'GetItem', 'UpdateItem'), query: ['sales_by_close'], read: ['passes', 'edge'] },
  catalog: { table: items('GetItem', 'BatchGetItem'), query: ['sales_by_close', 'campaigns_by_id'], read: ['edge'] },
  order: {
    table: items('ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'),
    query: ['campaigns_by_id'],
    consume: ['orders'],
    delay: ['orders'],
    send: ['expiry'],
  },
  dead_letter: {
    table: items('ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'),
    query: ['campaigns_by_id'],
    consume: ['orders-dlq'],
    send: ['quarantine', 'expiry'],
  },
  expiry: { table: items('GetItem', 'UpdateItem', 'DeleteItem'), consume: ['expiry'], send: ['expiry'] },
  payment: { table: items('UpdateItem'), send: ['expiry'], read: ['webhook', 'edge'] },
  warmup: {
    table: items('BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem'),
    query: ['sales_by_close', 'guards_by_round', 'blocked_by_end'],
    consume: ['rebuilds'],
  },
  admin: {
    table: items('BatchGetItem', 'BatchWriteItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
    query: [
      ...['members_by_group', 'orders_by_time', 'orders_by_user', 'refunds_by_time', 'sales_by_close', 'blocked_by_end'],
      ...['guards_by_round', 'orders_by_round', 'campaigns_by_id'],
    ],
    consume: ['orders-dlq', 'expiry-dlq', 'winners-dlq', 'webhook-dlq', 'quarantine'],
    send: ['orders', 'expiry', 'winners', 'webhook'],
    count: ['orders', 'expiry'],
    read: ['edge'],
  },
  reconciliation: {
    table: items('BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
    query: ['sales_by_close', 'guards_by_round', 'orders_by_round', 'pending_by_pay_by', 'blocked_by_end'],
    send: ['orders'],
  },
  draw: {
    table: items('BatchGetItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'),
    query: ['sales_by_close', 'orders_by_round'],
    count: ['orders', 'orders-dlq'],
    send: ['winners'],
  },
  winners: { table: items('GetItem', 'UpdateItem'), consume: ['winners'], read: ['winners'] },
  daily_reset: { table: items('BatchGetItem', 'GetItem', 'PutItem'), query: ['sales_by_close'] },
  websocket: {
    table: items('PutItem', 'DeleteItem'),
    query: ['connections_by_user'],
    other: { 'push DELETE/@connections/*': ['execute-api:ManageConnections'] },
  },
  notifier: {
    table: items('GetItem', 'DeleteItem'),
    query: ['connections_by_user'],
    send: ['notifier-failures'],
    other: { stream: STREAM, 'push POST/@connections/*': ['execute-api:ManageConnections'] },
  },
  emitter: { send: ['emitter-failures'], other: { stream: STREAM, bus: ['events:PutEvents'] } },
  webhook: { consume: ['webhook'], delay: ['webhook'], read: ['events'] },
};

/** The same by what is accessed. */
function byResource({ table, query = [], consume = [], delay = [], send = [], count = [], read = [], other }: Access): Record<string, string[]> {
  const found: Record<string, string[]> = { ...(table && { table }), ...other };
  const add = (kind: string, names: string[], actions: string[]): void => {
    for (const name of names) found[`${kind} ${name}`] = [...(found[`${kind} ${name}`] ?? []), ...actions].sort();
  };
  add('index', query, ['dynamodb:Query']);
  add('queue', consume, CONSUME);
  add('queue', delay, ['sqs:ChangeMessageVisibility']);
  add('queue', send, ['sqs:SendMessage']);
  add('queue', count, ['sqs:GetQueueAttributes']);
  add('secret', read, READ);
  return found;
}

/** Secrets have no names. */
const SECRETS = [
  [/webhook/, 'secret webhook'],
  [/winners/, 'secret winners'],
  [/events/, 'secret events'],
  [/passes/, 'secret passes'],
  [/through the edge/, 'secret edge'],
  [/stock/, 'secret stock'],
] as const;

const all = new Map(resources(template).map((resource) => [resource.id, resource]));

const POLICIES = properties(template, 'AWS::IAM::Policy');

function spoken(resource: Json): string {
  if (typeof resource === 'string') return resource;
  if (resource['Fn::Join'] !== undefined) {
    const [, parts] = resource['Fn::Join'];
    const [owner, rest] = parts;
    if (parts.includes(':execute-api:')) {
      expect(target(parts.at(-2))).toBe(apiOf(template, 'WEBSOCKET').id);
      return parts.at(-1).replace('/push/', 'push ');
    }
    expect(all.get(target(owner))?.type).toBe('AWS::DynamoDB::Table');
    return rest.replace('/index/', 'index ');
  }
  const { type, properties } = all.get(target(resource))!;
  switch (type) {
    case 'AWS::DynamoDB::Table':
      return resource['Fn::GetAtt'][1] === 'StreamArn' ? 'stream' : 'table';
    case 'AWS::Events::EventBus':
      return 'bus';
    case 'AWS::SQS::Queue':
      return properties.QueueName.replace(`${settings.name}-`, 'queue ');
    case 'AWS::SecretsManager::Secret':
      return SECRETS.find(([purpose]) => purpose.test(properties.Description))![1];
    case 'AWS::Logs::LogGroup':
      return `log ${properties.LogGroupName}`;
    default:
      throw new Error(`nobody expects a policy on ${type}`);
  }
}

/** What the policies of a function's role say. It has no others. */
function statementsOf(name: FunctionName): Json[] {
  const role = target(functionNamed(template, name, settings).properties.Role);
  expect(all.get(role)!.properties).not.toHaveProperty('ManagedPolicyArns');
  expect(all.get(role)!.properties).not.toHaveProperty('Policies');
  const policies = POLICIES.filter(({ Roles }) => Roles.some((each: Json) => target(each) === role));
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

function allowed(name: FunctionName): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { Action, Resource } of statementsOf(name).filter(({ Effect }) => Effect !== 'Deny')) {
    for (const key of [Resource].flat().map(spoken)) found[key] = [...(found[key] ?? []), ...[Action].flat()].sort();
  }
  return found;
}

// For all other roles cdk-nag reports wildcards and AWS's managed policies; `accept` in lib names the exceptions.
describe('each function may do what it needs and nothing else', () => {
  test.each(FUNCTION_NAMES)('%s', (name) => {
    const expected: Record<string, string[]> = {
      ...byResource(ALLOWED[name]),
      [`log /aws/lambda/${settings.name}-${name}`]: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    };
    if (FUNCTIONS[name].redis) expected['secret stock'] = READ;
    expected['*'] = FUNCTIONS[name].redis ? [...NETWORK_INTERFACE_ACTIONS, ...TRACE] : TRACE;
    expect(allowed(name)).toEqual(expected);
  });
});

/** These neither draw a seed nor compute an award from one. */
const WITHOUT_SEEDS: FunctionName[] = ['admission', 'waiting_room', 'expiry', 'payment', 'winners', 'websocket', 'notifier'];

/** The actions that a function may use on the seeds of lines. */
const WITH_LINES: { [name in FunctionName]?: string[] } = {
  waiting_room: items('GetItem', 'UpdateItem'),
  admin: items('PutItem'),
  daily_reset: items('PutItem'),
};

test.each(FUNCTION_NAMES)('%s reads a seed only if it needs one', (name) => {
  const table = ALLOWED[name].table ?? [];
  const denied: Record<string, string[]> = {};
  for (const { Action, Condition, Resource } of statementsOf(name).filter(({ Effect }) => Effect === 'Deny')) {
    expect(spoken(Resource)).toBe('table');
    const [keys, ...others] = Condition['ForAnyValue:StringLike']['dynamodb:LeadingKeys'];
    expect([Object.keys(Condition), others]).toEqual([['ForAnyValue:StringLike'], []]);
    denied[keys] = [Action].flat().sort();
  }
  const ofLines = table.filter((action) => !WITH_LINES[name]?.includes(action));
  expect(denied).toEqual({ ...(WITHOUT_SEEDS.includes(name) && { 'SEED#*': table }), ...(ofLines.length > 0 && { 'LINE#*': ofLines }) });
});

test('the waiting room writes only to lines', () => {
  const writes = statementsOf('waiting_room').filter(({ Action, Effect }) => Effect === 'Allow' && [Action].flat().includes('dynamodb:UpdateItem'));
  expect(writes.map(({ Action, Condition }) => [Action, Condition])).toEqual([
    ['dynamodb:UpdateItem', { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['LINE#*'] } }],
  ]);
});

test.each(SCHEDULED)('only its schedule may run %s', (name) => {
  const fn = functionNamed(template, name, settings).id;
  const statements = POLICIES.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter((each: Json) => [each.Action].flat().includes('lambda:InvokeFunction'))
    .filter((each: Json) => each.Resource['Fn::GetAtt']?.[0] === fn);
  expect(statements).toHaveLength(1);
});
