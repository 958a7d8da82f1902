import { describe, expect, test } from 'vitest';
import { ANSWERING, FUNCTIONS, FUNCTION_NAMES, type FunctionName, SCHEDULED } from '../lib/functions.ts';
import { NETWORK_INTERFACE_ACTIONS } from '../lib/rust-function.ts';
import { apiOf, DEPLOYED, functionNamed, type Json, resources, synthesized, target } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);

const items = (...actions: string[]) => actions.map((action) => `dynamodb:${action}`).sort();
const CONSUME = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
const COUNT = ['sqs:GetQueueAttributes'];
const SEND = ['sqs:SendMessage'];
const QUERY = ['dynamodb:Query'];
const MANAGE = ['execute-api:ManageConnections'];
const TRACE = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
const READ = ['secretsmanager:GetSecretValue'];

/** What each function may access, and which actions it may use. Logs and network are extra. */
const ALLOWED: Record<FunctionName, Record<string, string[]>> = {
  reservation: {
    table: items('BatchGetItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'index orders_by_user': QUERY,
    'index sales_by_close': QUERY,
    'index campaigns_by_id': QUERY,
    'queue orders': SEND,
    'queue expiry': SEND,
    'queue rebuilds': SEND,
    'secret passes': READ,
    'secret edge': READ,
  },
  admission: {
    table: items('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'),
    'index sales_by_close': QUERY,
    'queue rebuilds': SEND,
    'secret passes': READ,
    'secret edge': READ,
  },
  waiting_room: {
    table: items('BatchGetItem', 'GetItem', 'UpdateItem'),
    'index sales_by_close': QUERY,
    'secret passes': READ,
    'secret edge': READ,
  },
  catalog: {
    table: items('GetItem', 'BatchGetItem'),
    'index sales_by_close': QUERY,
    'index campaigns_by_id': QUERY,
    'secret edge': READ,
  },
  order: {
    table: items('ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'),
    'index campaigns_by_id': QUERY,
    'queue orders': [...CONSUME, 'sqs:ChangeMessageVisibility'].sort(),
    'queue expiry': SEND,
  },
  dead_letter: {
    table: items('ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'),
    'index campaigns_by_id': QUERY,
    'queue orders-dlq': CONSUME,
    'queue quarantine': SEND,
    'queue expiry': SEND,
  },
  expiry: { table: items('GetItem', 'UpdateItem', 'DeleteItem'), 'queue expiry': [...CONSUME, ...SEND].sort() },
  payment: { table: items('UpdateItem'), 'queue expiry': SEND, 'secret webhook': READ, 'secret edge': READ },
  warmup: {
    table: items('BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem'),
    'index sales_by_close': QUERY,
    'index guards_by_round': QUERY,
    'index blocked_by_end': QUERY,
    'queue rebuilds': CONSUME,
  },
  admin: {
    table: items('BatchGetItem', 'BatchWriteItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'index members_by_group': QUERY,
    'index orders_by_time': QUERY,
    'index orders_by_user': QUERY,
    'index refunds_by_time': QUERY,
    'index sales_by_close': QUERY,
    'index blocked_by_end': QUERY,
    'index guards_by_round': QUERY,
    'index orders_by_round': QUERY,
    'index campaigns_by_id': QUERY,
    'queue orders-dlq': CONSUME,
    'queue expiry-dlq': CONSUME,
    'queue winners-dlq': CONSUME,
    'queue webhook-dlq': CONSUME,
    'queue quarantine': CONSUME,
    'queue orders': [...SEND, ...COUNT].sort(),
    'queue expiry': [...SEND, ...COUNT].sort(),
    'queue winners': SEND,
    'queue webhook': SEND,
    'secret edge': READ,
  },
  reconciliation: {
    table: items('BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'index sales_by_close': QUERY,
    'index guards_by_round': QUERY,
    'index orders_by_round': QUERY,
    'index pending_by_pay_by': QUERY,
    'index blocked_by_end': QUERY,
    'queue orders': SEND,
  },
  draw: {
    table: items('BatchGetItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'),
    'index sales_by_close': QUERY,
    'index orders_by_round': QUERY,
    'queue orders': COUNT,
    'queue orders-dlq': COUNT,
    'queue winners': SEND,
  },
  winners: { table: items('GetItem', 'UpdateItem'), 'queue winners': CONSUME, 'secret winners': READ },
  daily_reset: { table: items('BatchGetItem', 'GetItem', 'PutItem'), 'index sales_by_close': QUERY },
  websocket: {
    table: items('PutItem', 'DeleteItem'),
    'index connections_by_user': QUERY,
    'push DELETE/@connections/*': MANAGE,
  },
  notifier: {
    table: items('GetItem', 'DeleteItem'),
    stream: items('DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'),
    'index connections_by_user': QUERY,
    'queue notifier-failures': SEND,
    'push POST/@connections/*': MANAGE,
  },
  emitter: {
    stream: items('DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'),
    bus: ['events:PutEvents'],
    'queue emitter-failures': SEND,
  },
  webhook: { 'queue webhook': [...CONSUME, 'sqs:ChangeMessageVisibility'].sort(), 'secret events': READ },
};

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

/** CDK writes the policy itself where it fills the page's bucket. */
const POLICIES = resources(template, 'AWS::IAM::Policy').filter(({ id }) => !id.startsWith('CustomCDKBucketDeployment'));

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

function allowed(name: FunctionName): Record<string, string[]> {
  const role = target(functionNamed(template, name, settings).properties.Role);
  expect(all.get(role)!.properties).not.toHaveProperty('ManagedPolicyArns');
  expect(all.get(role)!.properties).not.toHaveProperty('Policies');
  const found: Record<string, string[]> = {};
  for (const policy of resources(template, 'AWS::IAM::Policy')) {
    if (!policy.properties.Roles.some((each: Json) => target(each) === role)) continue;
    for (const statement of policy.properties.PolicyDocument.Statement) {
      if (statement.Effect === 'Deny') continue;
      for (const resource of [statement.Resource].flat()) {
        const key = spoken(resource);
        found[key] = [...(found[key] ?? []), ...[statement.Action].flat()].sort();
      }
    }
  }
  return found;
}

describe('each function may do what it needs and nothing else', () => {
  test.each(FUNCTION_NAMES)('%s', (name) => {
    const expected: Record<string, string[]> = {
      ...ALLOWED[name],
      [`log /aws/lambda/${settings.name}-${name}`]: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    };
    if (FUNCTIONS[name].redis) expected['secret stock'] = READ;
    expected['*'] = FUNCTIONS[name].redis ? [...NETWORK_INTERFACE_ACTIONS, ...TRACE] : TRACE;
    expect(allowed(name)).toEqual(expected);
  });
});

/** These neither draw a seed nor compute an award from one. */
const WITHOUT_SEEDS: FunctionName[] = [
  'admission',
  'waiting_room',
  'expiry',
  'payment',
  'winners',
  'websocket',
  'notifier',
];

/** The actions that a function may use on the seeds of lines. */
const WITH_LINES: { [name in FunctionName]?: string[] } = {
  waiting_room: items('GetItem', 'UpdateItem'),
  admin: items('PutItem'),
  daily_reset: items('PutItem'),
};

const statementsOf = (name: FunctionName): Json[] => {
  const role = target(functionNamed(template, name, settings).properties.Role);
  return POLICIES.filter(({ properties }) => properties.Roles.some((each: Json) => target(each) === role)).flatMap(
    ({ properties }) => properties.PolicyDocument.Statement,
  );
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
  expect(denied).toEqual({
    ...(WITHOUT_SEEDS.includes(name) && { 'SEED#*': table }),
    ...(ofLines.length > 0 && { 'LINE#*': ofLines }),
  });
});

test('the waiting room writes only to lines', () => {
  const writes = statementsOf('waiting_room').filter(
    ({ Action, Effect }) => Effect === 'Allow' && [Action].flat().includes('dynamodb:UpdateItem'),
  );
  expect(writes.map(({ Action, Condition }) => [Action, Condition])).toEqual([
    ['dynamodb:UpdateItem', { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['LINE#*'] } }],
  ]);
});

test('the resource * is used only where AWS has no narrower one', () => {
  const open = POLICIES.flatMap((policy) =>
    policy.properties.PolicyDocument.Statement.filter((each: Json) => [each.Resource].flat().includes('*')),
  );
  expect(open).toHaveLength(FUNCTION_NAMES.length);
  for (const statement of open) {
    const actions: string[] = statement.Action;
    expect([TRACE, [...NETWORK_INTERFACE_ACTIONS, ...TRACE]]).toContainEqual(actions);
  }
});

test('no action has a wildcard', () => {
  const actions = POLICIES.flatMap((policy) =>
    policy.properties.PolicyDocument.Statement.flatMap((each: Json) => each.Action),
  );
  expect(actions.filter((action: string) => action.includes('*'))).toEqual([]);
});

test('AWS manages only the policies for API Gateway\'s logs and CodeDeploy\'s aliases', () => {
  const roles = resources(template, 'AWS::IAM::Role').filter(({ id }) => !id.startsWith('CustomCDKBucketDeployment'));
  const managed = roles.flatMap(({ properties }) => properties.ManagedPolicyArns ?? []);
  expect(managed.map((arn: Json) => arn['Fn::Join'][1].at(-1)).sort()).toEqual([
    ...ANSWERING.map(() => ':iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited'),
    ':iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
  ]);
});

test.each(SCHEDULED)('only its schedule may run %s', (name) => {
  const fn = functionNamed(template, name, settings).id;
  const statements = resources(template, 'AWS::IAM::Policy')
    .flatMap((policy) => policy.properties.PolicyDocument.Statement)
    .filter((each: Json) => [each.Action].flat().includes('lambda:InvokeFunction'))
    .filter((each: Json) => each.Resource['Fn::GetAtt']?.[0] === fn);
  expect(statements).toHaveLength(1);
});
