import { describe, expect, test } from 'vitest';
import { MAY } from '../lib/redis-user.ts';
import { DEPLOYED, functionNamed, type Json, only, resources, secretFor, synthesized, target } from './stack.ts';

const prod = synthesized(DEPLOYED.prod);
const dev = synthesized(DEPLOYED.dev);
const local = synthesized(DEPLOYED.local);

describe('the ledger', () => {
  const { properties, deletion } = only(prod, 'AWS::DynamoDB::Table');

  test('has one key, no capacity to plan, a stream, a TTL and a way back in time', () => {
    expect(properties).toMatchObject({
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
  });

  test('has these indexes', () => {
    const types = Object.fromEntries(
      properties.AttributeDefinitions.map((each: Json) => [each.AttributeName, each.AttributeType]),
    );
    const indexes = properties.GlobalSecondaryIndexes.map((index: Json) => [
      index.IndexName,
      ...index.KeySchema.map((key: Json) => `${key.KeyType} ${key.AttributeName} ${types[key.AttributeName]}`),
      index.Projection.ProjectionType,
    ]);
    expect(indexes).toEqual([
      ['orders_by_user', 'HASH orders_of S', 'RANGE created_at_ms N', 'ALL'],
      ['pending_by_pay_by', 'HASH pending_shard S', 'RANGE pay_by_ms N', 'KEYS_ONLY'],
      ['guards_by_round', 'HASH round_shard S', 'RANGE unit N', 'ALL'],
      ['orders_by_round', 'HASH live_shard S', 'RANGE unit N', 'INCLUDE'],
      ['orders_by_time', 'HASH order_shard S', 'RANGE created_at_ms N', 'KEYS_ONLY'],
      ['refunds_by_time', 'HASH refund_shard S', 'RANGE refund_due_at_ms N', 'KEYS_ONLY'],
      ['sales_by_close', 'HASH sale_list S', 'RANGE closes_at_ms N', 'ALL'],
      ['denied_by_end', 'HASH denied_list S', 'RANGE until_ms N', 'ALL'],
      ['campaigns_by_id', 'HASH campaign_list S', 'RANGE campaign_id S', 'ALL'],
      ['members_by_group', 'HASH member_shard S', 'RANGE member S', 'KEYS_ONLY'],
      ['connections_by_user', 'HASH connections_of S', 'RANGE connected_at_ms N', 'KEYS_ONLY'],
    ]);
  });

  test('outlives its stack in production only', () => {
    expect([deletion, properties.DeletionProtectionEnabled]).toEqual(['RetainExceptOnCreate', true]);
    for (const template of [dev, local]) {
      const table = only(template, 'AWS::DynamoDB::Table');
      expect([table.deletion, table.properties.DeletionProtectionEnabled]).toEqual(['Delete', false]);
    }
  });
});

describe('the table takes the first second of a sale', () => {
  const warm = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 10_000 };
  const { properties } = only(prod, 'AWS::DynamoDB::Table');

  test('itself, and in the indexes that an order is written to', () => {
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

  test('where the settings say so', () => {
    expect(JSON.stringify(only(dev, 'AWS::DynamoDB::Table').properties)).not.toContain('WarmThroughput');
  });
});

describe('the payment secret', () => {
  const { properties } = secretFor(prod, /webhook/);

  test('is made by AWS, long, and safe to paste', () => {
    expect(properties.GenerateSecretString.PasswordLength).toBeGreaterThanOrEqual(32);
    expect(properties.GenerateSecretString.ExcludePunctuation).toBe(true);
    expect(properties).not.toHaveProperty('SecretString');
  });
});

describe('the pass secret', () => {
  test('is a first key with its number, in the form to which more keys are added', () => {
    expect(secretFor(prod, /passes/).properties.GenerateSecretString).toEqual({
      SecretStringTemplate: '{"signing":1}',
      GenerateStringKey: 'key1',
      PasswordLength: 48,
      ExcludePunctuation: true,
    });
  });

  test('outlives its stack in production only', () => {
    const deletions = [prod, dev, local].map((template) => secretFor(template, /passes/).deletion);
    expect(deletions).toEqual(['RetainExceptOnCreate', 'Delete', 'Delete']);
  });

  test('is an output', () => {
    expect(target(prod.toJSON().Outputs.PassSecretArn.Value)).toBe(secretFor(prod, /passes/).id);
  });
});

describe('Redis', () => {
  test('is a durable Valkey cluster of two zones in production, encrypted on the wire and at rest', () => {
    const { properties } = only(prod, 'AWS::ElastiCache::ReplicationGroup');
    expect(properties).not.toHaveProperty('NumCacheClusters');
    expect(properties).toMatchObject({
      Engine: 'valkey',
      ClusterMode: 'enabled',
      NumNodeGroups: 1,
      ReplicasPerNodeGroup: 1,
      Durability: 'sync',
      MultiAZEnabled: true,
      AutomaticFailoverEnabled: true,
      TransitEncryptionEnabled: true,
      AtRestEncryptionEnabled: true,
    });
  });

  test('never throws a key away for want of room', () => {
    const parameters = only(prod, 'AWS::ElastiCache::ParameterGroup');
    expect(parameters.properties.Properties).toEqual({ 'maxmemory-policy': 'noeviction', 'cluster-enabled': 'yes' });
    const group = only(prod, 'AWS::ElastiCache::ReplicationGroup');
    expect(target(group.properties.CacheParameterGroupName)).toBe(parameters.id);
  });

  test('is reached as a cluster where it is one', () => {
    const group = only(prod, 'AWS::ElastiCache::ReplicationGroup').id;
    const url = ['', ['rediss+cluster://', { 'Fn::GetAtt': [group, 'ConfigurationEndPoint.Address'] }, ':', { 'Fn::GetAtt': [group, 'ConfigurationEndPoint.Port'] }]];
    prod.hasOutput('RedisUrl', { Value: { 'Fn::Join': url } });
    const alone = ['', ['redis://', expect.anything(), ':', expect.anything()]];
    expect(local.toJSON().Outputs.RedisUrl.Value).toEqual({ 'Fn::Join': alone });
  });

  test('knows the functions by a password that no template has in it, and nobody else', () => {
    const secret = secretFor(prod, /stock/);
    const password = { 'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: secret.id }, ':SecretString:password::}}']] };
    const users = resources(prod, 'AWS::ElastiCache::User').map(({ properties }) => properties);
    expect(users.map((user) => [user.UserName, user.AccessString, user.Passwords])).toEqual([
      ['default', 'off ~* -@all', [password]],
      ['functions', MAY, [password]],
    ]);
    expect(JSON.parse(secret.properties.GenerateSecretString.SecretStringTemplate)).toEqual({ username: 'functions' });
    expect(secret.properties).not.toHaveProperty('SecretString');
    const group = only(prod, 'AWS::ElastiCache::UserGroup');
    expect(only(prod, 'AWS::ElastiCache::ReplicationGroup').properties.UserGroupIds).toEqual([{ Ref: group.id }]);
  });

  test('is one node without TLS on this machine', () => {
    expect(only(local, 'AWS::ElastiCache::ReplicationGroup').properties).toMatchObject({
      NumCacheClusters: 1,
      TransitEncryptionEnabled: false,
    });
  });

  test('is reached by functions alone, and they reach nothing but it and AWS', () => {
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

  test('lives in a network without a way out', () => {
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

  test('may be somebody else\'s', () => {
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
