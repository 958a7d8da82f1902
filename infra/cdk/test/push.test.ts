import { describe, expect, test } from 'vitest';
import { apiOf, DEPLOYED, functionNamed, ofApi, only, rendered, resources, synthesized, target, variablesOf } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const api = apiOf(template, 'WEBSOCKET');

describe('the WebSocket API', () => {
  const routes = ofApi(template, 'WEBSOCKET', 'Route');
  const [stage, ...otherStages] = ofApi(template, 'WEBSOCKET', 'Stage');

  // It only sends to clients: there is no route for their messages.
  test('has the function authorize connections', () => {
    expect(routes.map(({ properties }) => properties.RouteKey)).toEqual(['$connect', '$disconnect']);
    const [integration, ...others] = ofApi(template, 'WEBSOCKET', 'Integration');
    expect(others).toEqual([]);
    expect(JSON.stringify(integration!.properties.IntegrationUri)).toContain(`"${functionNamed(template, 'websocket', settings).id}"`);
    for (const { properties } of routes) {
      expect(properties.AuthorizationType).toBe('NONE');
      expect(properties.Target['Fn::Join'][1]).toContainEqual({ Ref: integration!.id });
    }
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
      '$context.connectionId', '$context.error.messageString', '$context.eventType', '$context.integrationErrorMessage',
      '$context.requestId', '$context.routeKey', '$context.status',
    ]);
  });

  test('may log, and other APIs of the account still may when the stack is gone', () => {
    const account = only(template, 'AWS::ApiGateway::Account');
    const role = resources(template, 'AWS::IAM::Role').find(({ id }) => id === target(account.properties.CloudWatchRoleArn))!;
    expect(role.properties.AssumeRolePolicyDocument.Statement[0].Principal).toEqual({ Service: 'apigateway.amazonaws.com' });
    expect([account.deletion, role.deletion]).toEqual(['RetainExceptOnCreate', 'RetainExceptOnCreate']);
    expect(stage!.dependsOn).toContain(account.id);
  });
});

test.each(['websocket', 'notifier'] as const)('%s knows the table of connections', (name) => {
  expect(rendered(variablesOf(template, name, settings).PUSH_ENDPOINT)).toBe(`https://{${api.id}}.execute-api.{AWS::Region}.{AWS::URLSuffix}/push`);
  const local = synthesized(DEPLOYED.local);
  const here = rendered(variablesOf(local, name, DEPLOYED.local).PUSH_ENDPOINT);
  expect(here).toBe(`http://127.0.0.1:4566/_aws/execute-api/{${apiOf(local, 'WEBSOCKET').id}}/push`);
});

test('websocket accepts the same tokens as the gateway', () => {
  expect(variablesOf(template, 'websocket', settings)).toMatchObject({ JWT_ISSUER: 'https://id.example.com', JWT_AUDIENCE: 'shop' });
  expect(variablesOf(synthesized({ ...settings, audience: ['a', 'b'] }), 'websocket', settings).JWT_AUDIENCE).toBe('a,b');
});
