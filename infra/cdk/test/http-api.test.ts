import { describe, expect, test } from 'vitest';
import { ROUTES } from '../lib/routes.ts';
import { DEPLOYED, functionNamed, type Json, ofApi, only, resources, synthesized, target, variablesOf } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const routes = ofApi(template, 'HTTP', 'Route').map((route) => route.properties);
const authorizer = only(template, 'AWS::ApiGatewayV2::Authorizer');

test('there are no routes but those in the table', () => expect(routes).toHaveLength(ROUTES.length));

const WITHOUT_TOKEN = [
  'GET /v1/campaigns', 'GET /v1/campaigns/{campaign_id}', 'GET /v1/sales', 'GET /v1/sales/{sale_id}', 'GET /v1/sales/{sale_id}/line',
  'GET /v1/sales/{sale_id}/rounds/{round}/draw', 'GET /v1/sales/{sale_id}/rounds/{round}/draw/entries/{chunk}',
  'POST /v1/payments/webhook',
];

const routed = ROUTES.map((each) => [`${each.method} ${each.path}`, each.to] as const);

test.each(routed)('%s goes to %s, with a token unless it is the webhook or public data', (key, name) => {
  const { AuthorizationType, AuthorizerId, Target } = routes.find((each) => each.RouteKey === key)!;
  expect([AuthorizationType, AuthorizerId && target(AuthorizerId)]).toEqual(WITHOUT_TOKEN.includes(key) ? ['NONE', undefined] : ['JWT', authorizer.id]);
  const called = Target['Fn::Join'][1].map((part: Json) => part.Ref).find(Boolean);
  const integration = resources(template, 'AWS::ApiGatewayV2::Integration').find(({ id }) => id === called)!;
  expect(integration.properties.PayloadFormatVersion).toBe('2.0');
  // Through the alias that a release moves.
  const alias = resources(template, 'AWS::Lambda::Alias').find(({ id }) => id === target(integration.properties.IntegrationUri))!;
  expect(target(alias.properties.FunctionName)).toBe(functionNamed(template, name, settings).id);
});

test('the token\'s issuer and audience are those in the settings', () => {
  expect(authorizer.properties).toMatchObject({
    AuthorizerType: 'JWT',
    IdentitySource: ['$request.header.Authorization'],
    JwtConfiguration: { Issuer: 'https://id.example.com', Audience: ['shop'] },
  });
  template.resourceCountIs('AWS::Cognito::UserPool', 0);
});

test('the default stage is throttled and logs neither path nor token', () => {
  const { properties } = ofApi(template, 'HTTP', 'Stage')[0]!;
  expect(properties).toMatchObject({
    StageName: '$default',
    AutoDeploy: true,
    DefaultRouteSettings: { ThrottlingRateLimit: settings.throttle.requestsPerSecond, ThrottlingBurstLimit: settings.throttle.burst },
  });
  const format: string = properties.AccessLogSettings.Format;
  expect(Object.keys(JSON.parse(format))).toContain('route');
  expect(format).not.toMatch(/\$context\.(path|identity|authorizer\.claims)/);
});

test('the logs of both gateways are kept for as long as the settings say', () => {
  const logs = resources(template, 'AWS::Logs::LogGroup').map(({ properties }) => [properties.LogGroupName, properties.RetentionInDays]);
  const ofGateways = logs.filter(([name]) => String(name).startsWith('/aws/vendedlogs/')).sort();
  expect(ofGateways).toEqual(['access', 'push'].map((of) => [`/aws/vendedlogs/${settings.name}/${of}`, settings.logRetentionDays]));
});

describe('with a user pool of its own', () => {
  const dev = synthesized(DEPLOYED.dev);

  const clients = resources(dev, 'AWS::Cognito::UserPoolClient');
  const [shop, smoke] = ['Shop', 'Smoke'].map((name) => clients.find(({ id }) => id.includes(name))!);

  test('the page\'s client and the smoke test\'s are the audience', () => {
    const { JwtConfiguration } = only(dev, 'AWS::ApiGatewayV2::Authorizer').properties;
    expect(JwtConfiguration.Audience.map(target)).toEqual([shop!.id, smoke!.id]);
    expect(JSON.stringify(JwtConfiguration.Issuer)).toContain(only(dev, 'AWS::Cognito::UserPool').id);
  });

  test('people sign in on Cognito\'s pages, by a code that requires PKCE, and return to the page', () => {
    const { properties } = shop!;
    expect(properties).toMatchObject({ AllowedOAuthFlowsUserPoolClient: true, AllowedOAuthFlows: ['code'] });
    expect(properties).toMatchObject({ AllowedOAuthScopes: ['openid'], SupportedIdentityProviders: ['COGNITO'] });
    expect(properties.GenerateSecret ?? false).toBe(false);
    const from = { 'Fn::GetAtt': [only(dev, 'AWS::CloudFront::Distribution').id, 'DomainName'] };
    expect(properties.CallbackURLs).toEqual(['/', '/operators.html'].map((path) => ({ 'Fn::Join': ['', ['https://', from, path]] })));
  });

  test('the page may request tokens from Cognito, and has its client', () => {
    const policy = JSON.stringify(only(dev, 'AWS::CloudFront::ResponseHeadersPolicy').properties);
    expect(policy).toContain('https://cognito-idp.');
    expect(policy).toMatch(/https:\/\/flash-sale-dev-"[^)]*"\.auth\."[^)]*amazoncognito\.com/);
    const uploads = resources(dev, 'Custom::CDKBucketDeployment');
    const config = uploads.find(({ properties }) => JSON.stringify(properties.SourceMarkers ?? '').includes(shop!.id));
    expect(config).toBeDefined();
  });

  test('the smoke test\'s client issues tokens only to callers with AWS credentials', () => {
    expect(smoke!.properties).toMatchObject({
      ExplicitAuthFlows: ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      AllowedOAuthFlowsUserPoolClient: false,
    });
  });

  test('there is a group of operators, and the admin function knows it', () => {
    dev.hasResourceProperties('AWS::Cognito::UserPoolGroup', { GroupName: 'operators' });
    const told = { OPERATOR_GROUP: 'operators', OPERATOR_CLAIM: 'groups,cognito:groups' };
    expect(variablesOf(dev, 'admin', DEPLOYED.dev)).toMatchObject(told);
    const own = { ...DEPLOYED.dev, operatorClaims: ['role'] };
    expect(variablesOf(synthesized(own), 'admin', own).OPERATOR_CLAIM).toBe('role');
  });
});

test('the way into a sale has its own throttle, which leaves room for the steps that follow', () => {
  const stage = ofApi(template, 'HTTP', 'Stage')[0]!;
  const { challenges, tokens, tickets, ...total } = settings.throttle;
  const expected = {
    'POST /v1/sales/{sale_id}/challenges': challenges,
    'POST /v1/sales/{sale_id}/tokens': tokens,
    'POST /v1/sales/{sale_id}/tickets': tickets,
  };
  const found: Record<string, Json> = stage.properties.RouteSettings;
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  for (const [key, { requestsPerSecond, burst }] of Object.entries(expected)) {
    expect(found[key]).toEqual({ ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: burst });
    const made = resources(template, 'AWS::ApiGatewayV2::Route').find((each) => each.properties.RouteKey === key)!;
    expect(stage.dependsOn, 'the stage needs the route first').toContain(made.id);
  }
  expect(challenges.requestsPerSecond + tokens.requestsPerSecond + tickets.requestsPerSecond).toBeLessThan(total.requestsPerSecond);
});
