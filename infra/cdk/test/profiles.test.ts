import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { ESSENTIAL } from '../lib/alarms.ts';
import { settingsOf } from '../lib/deployment.ts';
import { ANSWERING, FUNCTION_NAMES, FUNCTIONS } from '../lib/functions.ts';
import { DEPLOYED, fakeFunctions, functionNamed, type Json, newApp, only, ownFunctions, properties, resources, synthesized, synthesizedIn, target, variablesOf } from './stack.ts';

const prod = synthesized(DEPLOYED.prod);

describe('dev', () => {
  const settings = DEPLOYED.dev;
  const template = synthesized(settings);

  test('reaches SQS and Secrets Manager over IPv6, through an egress-only gateway, and DynamoDB by its free endpoint', () => {
    expect(properties(template, 'AWS::EC2::VPCEndpoint').map(({ VpcEndpointType }) => VpcEndpointType)).toEqual(['Gateway']);
    const gateway = only(template, 'AWS::EC2::EgressOnlyInternetGateway');
    const subnets = properties(template, 'AWS::EC2::Subnet');
    expect(subnets).toHaveLength(2);
    for (const subnet of subnets) expect(subnet).toMatchObject({ AssignIpv6AddressOnCreation: true, MapPublicIpOnLaunch: false });
    const ways = properties(template, 'AWS::EC2::Route').map((route) => [route.DestinationIpv6CidrBlock, target(route.EgressOnlyInternetGatewayId)]);
    expect(ways).toEqual(Array(2).fill(['::/0', gateway.id]));
    for (const type of ['InternetGateway', 'NatGateway']) template.resourceCountIs(`AWS::EC2::${type}`, 0);
  });

  test.each(FUNCTION_NAMES)('%s is set up for it', (name) => {
    const { VpcConfig, Environment } = functionNamed(template, name, settings).properties;
    expect(VpcConfig?.Ipv6AllowedForDualStack).toBe(FUNCTIONS[name].redis ? true : undefined);
    // The planner's size of a run's log assumes this: at `debug`, the SDK alone writes more.
    expect(Environment.Variables.LOG_LEVEL).toBe('info');
  });

  test('may only go out over IPv6 by HTTPS', () => {
    const out = properties(template, 'AWS::EC2::SecurityGroup').flatMap(({ SecurityGroupEgress }) => SecurityGroupEgress ?? []);
    const six = out.filter((rule: Json) => rule.CidrIpv6 !== undefined);
    expect(six).toEqual([{ CidrIpv6: '::/0', Description: 'AWS over IPv6', FromPort: 443, IpProtocol: 'tcp', ToPort: 443 }]);
  });

  test('has the essential alarms, and no dashboard', () => {
    const names = properties(template, 'AWS::CloudWatch::Alarm').map(({ AlarmName }) => AlarmName);
    expect(names.sort()).toEqual(ESSENTIAL.map((id) => `${settings.name}-${id}`).sort());
  });

  test('has one signing key for payments, winners and events', () => {
    const used = [['payment', 'PAYMENT_SECRET_ARN'], ['winners', 'WINNER_SECRET_ARN'], ['webhook', 'WEBHOOK_SECRET_ARN']] as const;
    const all = used.map(([name, variable]) => variablesOf(template, name, settings)[variable]);
    expect(new Set(all.map(target)).size).toBe(1);
  });

  test('polls no unused queue', () => {
    const idle = ['winners', 'webhook'].map((name) => functionNamed(template, name as 'winners', settings).id);
    for (const { Enabled, FunctionName } of properties(template, 'AWS::Lambda::EventSourceMapping')) expect(Enabled !== false).toBe(!idle.includes(target(FunctionName)));
    const told = synthesized(settingsOf('dev', { ...DEPLOYMENTS.dev, webhookUrl: 'https://w.example', giftUrl: 'https://g.example' }));
    expect(properties(told, 'AWS::Lambda::EventSourceMapping').filter(({ Enabled }) => Enabled === false)).toEqual([]);
  });

  test('has the page and CloudFront, and no firewall', () => {
    expect(only(template, 'AWS::CloudFront::Distribution').properties.DistributionConfig).not.toHaveProperty('WebACLId');
  });

  test.each(['EdgeUrl', 'EdgeKeySecretArn', 'AlarmTopicArn', 'UserPoolId', 'UserPoolClientId', 'SmokeClientId'])('outputs %s, which a command reads', (name) => {
    template.hasOutput(name, {});
  });

  test('leaves nothing behind except the role for the logs of the account\'s APIs', () => {
    const left = resources(template).filter(({ deletion }) => /^Retain/.test(deletion ?? ''));
    expect(left.map(({ type, deletion }) => [type, deletion]).sort()).toEqual([
      ['AWS::ApiGateway::Account', 'RetainExceptOnCreate'],
      ['AWS::IAM::Role', 'RetainExceptOnCreate'],
    ]);
  });
});

describe('a first deployment that fails', () => {
  test('removes everything that it created', () => {
    const first = synthesized(settingsOf('prod', { ...DEPLOYMENTS.prod, provisioned: [] }, { first: true }));
    for (const { id, deletion } of resources(first)) expect(deletion, id).not.toBe('Retain');
    expect(only(first, 'AWS::DynamoDB::Table').properties.DeletionProtectionEnabled).toBe(false);
  });

  test('and one that succeeds keeps its table, its keys and what the account needs', () => {
    const kept = resources(prod).filter(({ deletion }) => deletion === 'RetainExceptOnCreate').map(({ type }) => type);
    expect(kept.sort()).toEqual([
      'AWS::ApiGateway::Account',
      'AWS::DynamoDB::Table',
      'AWS::IAM::Role',
      ...Array(4).fill('AWS::SecretsManager::Secret'),
    ]);
  });
});

describe('parked', () => {
  const template = synthesized(DEPLOYED.parked);

  test('has one shard, however many prod has', () => {
    const lanes = synthesized(settingsOf('parked', { ...DEPLOYMENTS.parked, shards: 4 }));
    expect(only(lanes, 'AWS::ElastiCache::ReplicationGroup').properties).toMatchObject({ NumNodeGroups: 1, ReplicasPerNodeGroup: 0 });
  });

  test('keeps the data, the names and the receivers of prod', () => {
    for (const type of ['AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret', 'AWS::SNS::Subscription', 'AWS::CloudFront::Distribution', 'AWS::SQS::Queue']) {
      const ids = (of: typeof template) => resources(of, type).map(({ id, deletion }) => [id, deletion]);
      expect(ids(template), type).toEqual(ids(prod));
    }
  });
});

describe('a release', () => {
  const groups = resources(prod, 'AWS::CodeDeploy::DeploymentGroup');
  const aliases = resources(prod, 'AWS::Lambda::Alias');

  test('sends a tenth of each front function\'s requests to its new version for five minutes', () => {
    const released = aliases.map(({ properties }) => target(properties.FunctionName)).sort();
    expect(released).toEqual(ANSWERING.map((name) => functionNamed(prod, name, DEPLOYED.prod).id).sort());
    expect(groups).toHaveLength(ANSWERING.length);
    for (const { properties } of groups) expect(properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
    const raw = prod.toJSON().Resources;
    for (const { id } of aliases) {
      expect(groups.map((group) => group.id)).toContain(raw[id].UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref);
    }
  });

  test('is rolled back if an alarm fires meanwhile', () => {
    const alarms = new Map(resources(prod, 'AWS::CloudWatch::Alarm').map(({ id, properties }) => [id, properties.AlarmName]));
    for (const { properties } of groups) {
      expect(properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      });
      expect(properties.AlarmConfiguration.Enabled).toBe(true);
      const names = properties.AlarmConfiguration.Alarms.map(({ Name }: Json) => alarms.get(target(Name)));
      expect(names.sort()).toEqual(['door-failing', 'functions-throttled', 'gateway-5xx', 'units-oversold'].map((id) => `flash-sale-${id}`));
    }
  });

  test('is at once if the file says so, behind the same aliases: no alarm holds up a fix', () => {
    const mend = synthesized(settingsOf('prod', { ...DEPLOYMENTS.prod, provisioned: [], webhookUrl: undefined, releases: 'at-once' }));
    mend.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
    const raw = mend.toJSON().Resources;
    expect(resources(mend, 'AWS::Lambda::Alias').map(({ id }) => id).sort()).toEqual(aliases.map(({ id }) => id).sort());
    for (const { id } of aliases) expect(raw[id]).not.toHaveProperty('UpdatePolicy');
    const called = (of: typeof prod) => resources(of, 'AWS::ApiGatewayV2::Integration').map(({ id, properties }) => [id, properties.IntegrationUri]);
    expect(called(mend)).toEqual(called(prod));
  });

  test('is in place in dev, where there are no requests to judge it by', () => {
    for (const name of ['dev', 'local', 'parked'] as const) {
      for (const type of ['AWS::CodeDeploy::DeploymentGroup', 'AWS::Lambda::Alias', 'AWS::Lambda::Version']) synthesized(DEPLOYED[name]).resourceCountIs(type, 0);
    }
  });

  test('changes only the versions of functions whose program has changed', () => {
    const versions = (of: typeof prod) => resources(of, 'AWS::Lambda::Version').map(({ id }) => id).sort();
    const again = fakeFunctions(FUNCTION_NAMES, DEPLOYED.prod.architecture);
    expect(versions(synthesizedIn(newApp(), DEPLOYED.prod, again))).toEqual(versions(prod));

    // In a folder of its own: CDK remembers the digests of what it has read.
    const programs = fakeFunctions(FUNCTION_NAMES, DEPLOYED.prod.architecture);
    appendFileSync(join(programs, 'reservation', 'bootstrap'), 'changed');
    const changed = versions(synthesizedIn(newApp(), DEPLOYED.prod, programs));
    const added = changed.filter((id) => !versions(prod).includes(id));
    expect([changed.length, added.length]).toEqual([versions(prod).length, 1]);
    expect(added[0]).toMatch(/reservation/i);
    expect(ownFunctions(prod)).toHaveLength(FUNCTION_NAMES.length);
  });
});

describe('without an edge', () => {
  const without = settingsOf('dev', { ...DEPLOYMENTS.dev, edge: false });

  test.each([['dev', without], ['local', DEPLOYED.local]])('there is no CloudFront in %s, which a new account must wait for, and functions answer all requests to the gateway', (_, settings) => {
    const template = synthesized(settings);
    expect(resources(template).filter(({ type }) => /^AWS::(CloudFront|WAFv2|S3)::/.test(type))).toEqual([]);
    expect(JSON.stringify(template.toJSON())).not.toMatch(/EDGE_ONLY|EDGE_KEY_SECRET_ARN/);
    template.hasOutput('ApiUrl', {});
  });

  test('settings that need an edge are refused', () => {
    expect(() => settingsOf('prod', { ...DEPLOYMENTS.edge, edge: false, edgeKey: 'key2' })).toThrow(/edge: required for domain, edgeKey/);
  });
});

test('an account with a qualifier of its own is deployed to by its roles and its bucket', () => {
  const text = JSON.stringify(synthesizedIn(newApp(), settingsOf('qualified', DEPLOYMENTS.qualified)).toJSON());
  expect(text).toContain('cdk-shop1-assets-');
  expect(text).toContain('/cdk-bootstrap/shop1/version');
  expect(text).not.toContain('hnb659fds');
  expect(synthesized(DEPLOYED.local).toJSON().Rules ?? {}).not.toHaveProperty('CheckBootstrapVersion');
});
