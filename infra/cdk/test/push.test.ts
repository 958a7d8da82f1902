import { describe, expect, test } from 'vitest';
import type { OidcIdentity } from '../lib/settings.ts';
import {
  apiOf,
  DEPLOYED,
  functionNamed,
  type Json,
  ofApi,
  only,
  resources,
  synthesized,
  target,
} from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const api = apiOf(template, 'WEBSOCKET');
const fn = (name: 'websocket' | 'notifier') => functionNamed(template, name, settings);
const variables = (name: 'websocket' | 'notifier') => fn(name).properties.Environment.Variables;

describe('the WebSocket API', () => {
  const routes = ofApi(template, 'WEBSOCKET', 'Route');
  const [stage, ...otherStages] = ofApi(template, 'WEBSOCKET', 'Stage');

  test('only sends to clients', () => {
    expect(api.properties.RouteSelectionExpression).toBe('$request.body.action');
    expect(routes.map(({ properties }) => properties.RouteKey)).toEqual(['$connect', '$disconnect']);
  });

  test('has the function authorize connections', () => {
    const [integration, ...others] = ofApi(template, 'WEBSOCKET', 'Integration');
    expect(others).toEqual([]);
    expect(integration!.properties.IntegrationType).toBe('AWS_PROXY');
    expect(JSON.stringify(integration!.properties.IntegrationUri)).toContain(`"${fn('websocket').id}"`);
    for (const { properties } of routes) {
      expect(properties.AuthorizationType).toBe('NONE');
      expect(properties.Target['Fn::Join'][1]).toContainEqual({ Ref: integration!.id });
    }
    const permissions = resources(template, 'AWS::Lambda::Permission').filter(
      ({ properties }) => target(properties.FunctionName) === fn('websocket').id,
    );
    const sources = permissions.map(({ properties }) => properties.SourceArn['Fn::Join'][1].slice(-2));
    expect(sources).toEqual([
      [{ Ref: api.id }, '/*$connect'],
      [{ Ref: api.id }, '/*$disconnect'],
    ]);
  });

  test('has one stage, after the routes, that is throttled by the account\'s limit', () => {
    expect(otherStages).toEqual([]);
    expect(stage!.properties).toMatchObject({
      StageName: 'push',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 500 },
    });
    expect(stage!.dependsOn).toEqual(expect.arrayContaining(routes.map(({ id }) => id)));
  });

  test('does not log the query, which contains the token', () => {
    expect(stage!.properties.DefaultRouteSettings).toMatchObject({ DataTraceEnabled: false, LoggingLevel: 'OFF' });
    expect(Object.values(JSON.parse(stage!.properties.AccessLogSettings.Format)).sort()).toEqual([
      '$context.connectionId',
      '$context.error.messageString',
      '$context.eventType',
      '$context.integrationErrorMessage',
      '$context.requestId',
      '$context.routeKey',
      '$context.status',
    ]);
    const groups = resources(template, 'AWS::Logs::LogGroup');
    const group = groups.find(({ properties }) => properties.LogGroupName === `/aws/vendedlogs/${settings.name}/push`);
    expect(group!.properties.RetentionInDays).toBe(settings.logRetentionDays);
  });

  test('may log, and other APIs of the account still may when the stack is gone', () => {
    const account = only(template, 'AWS::ApiGateway::Account');
    const role = resources(template, 'AWS::IAM::Role').find(
      ({ id }) => id === target(account.properties.CloudWatchRoleArn),
    )!;
    expect(role.properties.AssumeRolePolicyDocument.Statement[0].Principal).toEqual({
      Service: 'apigateway.amazonaws.com',
    });
    expect([account.deletion, role.deletion]).toEqual(['RetainExceptOnCreate', 'RetainExceptOnCreate']);
    expect(stage!.dependsOn).toContain(account.id);
  });

  test('is an output', () => {
    const url = template.toJSON().Outputs.PushUrl.Value['Fn::Join'][1];
    expect([url[0], url[1], url.at(-1)]).toEqual(['wss://', { Ref: api.id }, '/push']);
  });
});

test.each(['websocket', 'notifier'] as const)('%s knows the table of connections', (name) => {
  expect(variables(name).PUSH_ENDPOINT).toEqual({
    'Fn::Join': [
      '',
      ['https://', { Ref: api.id }, '.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }, '/push'],
    ],
  });
  const local = synthesized(DEPLOYED.local);
  const here = functionNamed(local, name, DEPLOYED.local).properties.Environment.Variables;
  expect(here.PUSH_ENDPOINT).toEqual({
    'Fn::Join': [
      '',
      ['http://127.0.0.1:4566/_aws/execute-api/', { Ref: apiOf(local, 'WEBSOCKET').id }, '/push'],
    ],
  });
});

test('websocket accepts the same tokens as the gateway', () => {
  expect(variables('websocket')).toMatchObject({ JWT_ISSUER: 'https://id.example.com', JWT_AUDIENCE: 'shop' });
  const identity: OidcIdentity = { kind: 'oidc', issuer: 'https://a.example', audience: ['a', 'b'] };
  const told = functionNamed(synthesized({ ...settings, identity }), 'websocket', settings).properties;
  expect(told.Environment.Variables.JWT_AUDIENCE).toBe('a,b');
});

describe('the feed of orders', () => {
  const mappings = resources(template, 'AWS::Lambda::EventSourceMapping').filter(
    ({ properties }) => target(properties.FunctionName) === fn('notifier').id,
  );
  const { properties } = mappings[0]!;

  test('goes from the table to notifier in order, from the deployment on', () => {
    expect(mappings).toHaveLength(1);
    expect(properties.EventSourceArn).toEqual({
      'Fn::GetAtt': [only(template, 'AWS::DynamoDB::Table').id, 'StreamArn'],
    });
    expect(properties).toMatchObject({ StartingPosition: 'LATEST', BatchSize: 100, ParallelizationFactor: 1 });
  });

  test('contains only orders', () => {
    expect(properties.FilterCriteria.Filters.map((each: Json) => JSON.parse(each.Pattern))).toEqual([
      { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: [{ prefix: 'ORDER#' }] } } } },
    ]);
  });

  test('gives up on old records, and reports it', () => {
    expect(properties).toMatchObject({
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 3,
      MaximumRecordAgeInSeconds: 60,
    });
    const queue = target(properties.DestinationConfig.OnFailure.Destination);
    const { QueueName } = resources(template, 'AWS::SQS::Queue').find(({ id }) => id === queue)!.properties;
    expect(QueueName).toBe(`${settings.name}-notifier-failures`);
  });
});
