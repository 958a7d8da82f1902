import { describe, expect, test } from 'vitest';
import { MAY } from '../lib/redis-user.ts';
import { DEPLOYED, functionNamed, type Json, only, properties, resources, secretFor, synthesized, target } from './stack.ts';

const prod = synthesized(DEPLOYED.prod);
const dev = synthesized(DEPLOYED.dev);
const local = synthesized(DEPLOYED.local);

describe('the ledger', () => {
  const { properties, deletion } = only(prod, 'AWS::DynamoDB::Table');

  // Its keys, its indexes and its stream are used by the tests on the emulator, which does not expire anything.
  test('forgets what has expired', () => {
    expect(properties.TimeToLiveSpecification).toEqual({ AttributeName: 'expires_at', Enabled: true });
  });

  test('outlives its stack in production only', () => {
    expect([deletion, properties.DeletionProtectionEnabled]).toEqual(['RetainExceptOnCreate', true]);
    for (const template of [dev, local]) {
      const table = only(template, 'AWS::DynamoDB::Table');
      expect([table.deletion, table.properties.DeletionProtectionEnabled]).toEqual(['Delete', false]);
    }
  });
});

describe('the table is warmed for the first second of a sale', () => {
  const warm = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 10_000 };
  const { properties } = only(prod, 'AWS::DynamoDB::Table');

  test('itself, and the indexes that an order is written to', () => {
    expect(properties.WarmThroughput).toEqual(warm);
    const warmed = properties.GlobalSecondaryIndexes.filter((index: Json) => index.WarmThroughput !== undefined);
    expect(warmed.map((index: Json) => index.IndexName)).toEqual([
      'orders_by_user',
      'pending_by_pay_by',
      'guards_by_round',
      'orders_by_round',
      'orders_by_time',
    ]);
    for (const index of warmed) expect(index.WarmThroughput).toEqual(warm);
  });

  test('if the settings say so', () => {
    expect(JSON.stringify(only(dev, 'AWS::DynamoDB::Table').properties)).not.toContain('WarmThroughput');
  });
});

test('the pass secret is a first key with its number, in the format that allows more keys, and outlives its stack in production only', () => {
  expect(secretFor(prod, /passes/).properties.GenerateSecretString).toMatchObject({ SecretStringTemplate: '{"signing":1}', GenerateStringKey: 'key1' });
  const deletions = [prod, dev, local].map((template) => secretFor(template, /passes/).deletion);
  expect(deletions).toEqual(['RetainExceptOnCreate', 'Delete', 'Delete']);
});

// Its nodes and shards are in tools/planner/profiles.json; that it is encrypted and in two zones is a rule of cdk-nag.
describe('Redis', () => {
  test('never evicts a key', () => {
    const parameters = only(prod, 'AWS::ElastiCache::ParameterGroup');
    expect(parameters.properties.Properties).toEqual({ 'maxmemory-policy': 'noeviction', 'cluster-enabled': 'yes' });
    const group = only(prod, 'AWS::ElastiCache::ReplicationGroup');
    expect(target(group.properties.CacheParameterGroupName)).toBe(parameters.id);
  });

  test('is reached as a cluster if it is one', () => {
    const group = only(prod, 'AWS::ElastiCache::ReplicationGroup').id;
    const url = ['', ['rediss+cluster://', { 'Fn::GetAtt': [group, 'ConfigurationEndPoint.Address'] }, ':', { 'Fn::GetAtt': [group, 'ConfigurationEndPoint.Port'] }]];
    prod.hasOutput('RedisUrl', { Value: { 'Fn::Join': url } });
    const alone = ['', ['redis://', expect.anything(), ':', expect.anything()]];
    expect(local.toJSON().Outputs.RedisUrl.Value).toEqual({ 'Fn::Join': alone });
  });

  test('lets only functions in, by a password that is not in the template', () => {
    const secret = secretFor(prod, /stock/);
    const password = { 'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: secret.id }, ':SecretString:password::}}']] };
    const users = properties(prod, 'AWS::ElastiCache::User');
    expect(users.map((user) => [user.UserName, user.AccessString, user.Passwords])).toEqual([
      ['default', 'off ~* -@all', [password]],
      ['functions', MAY, [password]],
    ]);
    expect(JSON.parse(secret.properties.GenerateSecretString.SecretStringTemplate)).toEqual({ username: 'functions' });
    expect(secret.properties).not.toHaveProperty('SecretString');
    const group = only(prod, 'AWS::ElastiCache::UserGroup');
    expect(only(prod, 'AWS::ElastiCache::ReplicationGroup').properties.UserGroupIds).toEqual([{ Ref: group.id }]);
  });

  test('is reached only by functions, and they reach only it and AWS', () => {
    const groups = new Map(resources(prod, 'AWS::EC2::SecurityGroup').map((group) => [group.id, group.properties]));
    const [functions] = functionNamed(prod, 'order', DEPLOYED.prod).properties.VpcConfig.SecurityGroupIds.map(target);
    const [servers] = only(prod, 'AWS::ElastiCache::ReplicationGroup').properties.SecurityGroupIds.map(target);

    const ports = groups.get(functions).SecurityGroupEgress.map((rule: Json) => [rule.IpProtocol, rule.FromPort, rule.ToPort]);
    expect(ports).toEqual([
      ['tcp', 6379, 6379],
      ['tcp', 443, 443],
    ]);
    expect(groups.get(functions)).not.toHaveProperty('SecurityGroupIngress');

    const [rule, ...others] = groups.get(servers).SecurityGroupIngress;
    expect(others).toEqual([]);
    expect([target(rule.SourceSecurityGroupId), rule.FromPort, rule.ToPort]).toEqual([functions, 6379, 6379]);
    prod.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0);
    prod.resourceCountIs('AWS::EC2::SecurityGroupEgress', 0);
  });

  test('is in a network without access to the internet', () => {
    for (const type of ['InternetGateway', 'NatGateway', 'Route']) prod.resourceCountIs(`AWS::EC2::${type}`, 0);
    const endpoints = resources(prod, 'AWS::EC2::VPCEndpoint').map(({ properties }) => [
      properties.ServiceName['Fn::Join'][1].at(-1),
      properties.VpcEndpointType,
    ]);
    expect(endpoints.sort()).toEqual([
      ['.dynamodb', 'Gateway'],
      ['.secretsmanager', 'Interface'],
      ['.sqs', 'Interface'],
    ]);
  });

  test('may be an external one', () => {
    const url = 'redis://127.0.0.1:6379';
    const settings = { ...DEPLOYED.local, redis: { kind: 'external', url } } as const;
    const template = synthesized(settings);
    template.resourceCountIs('AWS::EC2::VPC', 0);
    template.resourceCountIs('AWS::ElastiCache::ReplicationGroup', 0);
    template.hasOutput('RedisUrl', { Value: url });
    const order = functionNamed(template, 'order', settings).properties;
    expect(order.Environment.Variables.REDIS_URL).toBe(url);
    expect(order).not.toHaveProperty('VpcConfig');
  });
});
