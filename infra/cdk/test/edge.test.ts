import { describe, expect, test } from 'vitest';
import { KEY_HEADER, VIEWER_HEADER } from '../lib/edge.ts';
import { ROUTES } from '../lib/routes.ts';
import { DEPLOYMENTS } from '../bin/examples.ts';
import { settingsOf } from '../lib/deployment.ts';
import { ANSWERING } from '../lib/functions.ts';
import { apiOf, DEPLOYED, type Json, only, properties, resources, secretFor, synthesized, synthesizedEdge, target, variablesOf } from './stack.ts';

const settings = DEPLOYED.prod;
const template = synthesized(settings);
const { DistributionConfig: config } = only(template, 'AWS::CloudFront::Distribution').properties;

// AWS-managed: CachingDisabled and AllViewerExceptHostHeader.
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const ALL_VIEWER_EXCEPT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

describe('the edge', () => {
  const [, origin] = config.Origins;
  const [draws, lines, below, ...others] = config.CacheBehaviors;
  const gateway = others.at(-1);
  const shared = [draws, lines, ...others.slice(0, -1)];

  test('forwards /v1 to the gateway over modern TLS, and caches nothing, not even errors', () => {
    expect([below.PathPattern, gateway.PathPattern]).toEqual(['/v1/sales/*/*', '/v1/*']);
    for (const behavior of [below, gateway]) {
      expect(behavior).toMatchObject({
        TargetOriginId: origin.Id,
        ViewerProtocolPolicy: 'https-only',
        CachePolicyId: CACHING_DISABLED,
        OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
      });
      expect(behavior.AllowedMethods).toEqual(expect.arrayContaining(['GET', 'POST', 'DELETE']));
    }
    expect(origin.CustomOriginConfig).toEqual({ OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] });
    expect(JSON.stringify(origin.DomainName)).toContain(apiOf(template, 'HTTP').id);
    const remembered = config.CustomErrorResponses.map((each: Json) => [each.ErrorCode, each.ErrorCachingMinTTL]);
    for (const status of [404, 500, 502, 503, 504]) expect(remembered).toContainEqual([status, 0]);
  });

  test('caches public answers, for as long as they say, in one copy for everyone', () => {
    const policy = only(template, 'AWS::CloudFront::CachePolicy');
    expect(shared.map((each: Json) => each.PathPattern)).toEqual([
      '/v1/sales/*/rounds/*/draw*', '/v1/sales/*/line', '/v1/campaigns', '/v1/campaigns/*', '/v1/sales', '/v1/sales/*',
    ]);
    for (const behavior of shared) {
      expect(target(behavior.CachePolicyId)).toBe(policy.id);
      expect(behavior).toMatchObject({ TargetOriginId: origin.Id, AllowedMethods: ['GET', 'HEAD'] });
      // The function gets nothing about the viewer, so one viewer's answer can be served to another.
      expect(behavior).not.toHaveProperty('OriginRequestPolicyId');
    }
    const { MinTTL, DefaultTTL, MaxTTL, ParametersInCacheKeyAndForwardedToOrigin: key } = policy.properties.CachePolicyConfig;
    expect([MinTTL, DefaultTTL]).toEqual([0, 0]);
    // A draw with its seed is cached for a day.
    expect(MaxTTL).toBe(86_400);
    expect(key).toMatchObject({
      CookiesConfig: { CookieBehavior: 'none' },
      HeadersConfig: { HeaderBehavior: 'none' },
      QueryStringsConfig: { QueryStringBehavior: 'none' },
    });
  });

  test('caches every public GET, and no other route', () => {
    // CloudFront takes the first pattern that matches, and a star matches anything, including slashes.
    const fits = (pattern: string, path: string) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(path);
    for (const { method, path, checkedBy } of ROUTES) {
      const asked = path.replace(/\{[a-z_]+\}/g, 'x');
      const first = config.CacheBehaviors.find((each: Json) => fits(each.PathPattern, asked));
      const kept = first.CachePolicyId !== CACHING_DISABLED;
      expect(kept, `${method} ${path}`).toBe(checkedBy === 'nobody' && method === 'GET');
    }
  });

  test('identifies itself by a secret that is not in the template', () => {
    const key = secretFor(template, /through the edge/);
    expect(key.properties).not.toHaveProperty('SecretString');
    expect(origin.OriginCustomHeaders).toEqual([
      { HeaderName: KEY_HEADER, HeaderValue: { 'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: key.id }, ':SecretString:key1::}}']] } },
    ]);
    // CloudFront rejects these.
    for (const name of [KEY_HEADER, VIEWER_HEADER]) expect(name).not.toMatch(/^x-(edge|amz|amzn|real-ip|forwarded-proto)/);
  });

  test('overwrites whatever address the viewer claims', () => {
    const writers = resources(template, 'AWS::CloudFront::Function');
    const writer = writers.find((each) => !each.properties.FunctionConfig.KeyValueStoreAssociations)!;
    const [association] = gateway.FunctionAssociations;
    expect([association.EventType, target(association.FunctionARN)]).toEqual(['viewer-request', writer.id]);
    const handler = new Function(`${writer.properties.FunctionCode}; return handler;`)();
    const request = { headers: { [VIEWER_HEADER]: { value: '6.6.6.6' }, authorization: { value: 'Bearer a' } } };
    expect(handler({ request, viewer: { ip: '2001:db8::1' } }).headers).toEqual({
      [VIEWER_HEADER]: { value: '2001:db8::1' },
      authorization: { value: 'Bearer a' },
    });
  });

  test('is behind the firewall of us-east-1', () => {
    expect(config.WebACLId).toEqual({ 'Fn::GetStackOutput': { StackName: `${settings.name}-edge`, OutputName: 'FirewallArn', Region: 'us-east-1' } });
  });

  test('is the only way in: each function that answers people has its keys, and refuses requests that bypassed it', () => {
    const key = secretFor(template, /through the edge/);
    const told = ANSWERING.map((name) => variablesOf(template, name, settings));
    for (const { EDGE_KEY_SECRET_ARN, EDGE_ONLY } of told) expect([target(EDGE_KEY_SECRET_ARN), EDGE_ONLY]).toEqual([key.id, 'on']);
    // A secret with one key, and room for the next.
    expect(key.properties.GenerateSecretString).toMatchObject({ GenerateStringKey: 'key1', SecretStringTemplate: '{}' });
  });

  test('requires TLS 1.2 under a custom name', () => {
    const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/c';
    const own = { ...settings, edge: { ...settings.edge!, domain: { name: 'sale.example.com', certificateArn } } };
    const named = synthesized(own);
    const { DistributionConfig } = only(named, 'AWS::CloudFront::Distribution').properties;
    expect(DistributionConfig.Aliases).toEqual(['sale.example.com']);
    expect(DistributionConfig.ViewerCertificate).toMatchObject({ AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' });
    named.hasOutput('EdgeUrl', { Value: 'https://sale.example.com' });
    // For its DNS record.
    named.hasOutput('EdgeCloudFrontName', { Value: { 'Fn::GetAtt': [only(named, 'AWS::CloudFront::Distribution').id, 'DomainName'] } });
  });
});

describe('the firewall', () => {
  const edge = synthesizedEdge(settings);
  const { properties } = only(edge, 'AWS::WAFv2::WebACL');
  const rule = (name: string) => properties.Rules.find((each: Json) => each.Name === name);

  /** The requests that a rule applies to. */
  const CALLBACKS = {
    ByteMatchStatement: {
      FieldToMatch: { UriPath: {} },
      PositionalConstraint: 'EXACTLY',
      SearchString: '/v1/payments/webhook',
      TextTransformations: [{ Priority: 0, Type: 'NONE' }],
    },
  };

  test('does not apply to payment callbacks: an order whose payment is blocked would expire', () => {
    // A few addresses send one per order: far more than any buyer.
    expect(properties.Rules).toHaveLength(2);
    for (const { Name, Statement } of properties.Rules) {
      const { ScopeDownStatement } = Statement.ManagedRuleGroupStatement ?? Statement.RateBasedStatement;
      expect(ScopeDownStatement, Name).toEqual({ NotStatement: { Statement: CALLBACKS } });
    }
    const callbacks = ROUTES.filter(({ to }) => to === 'payment').map(({ method, path }) => [method, path]);
    expect(callbacks).toEqual([['POST', CALLBACKS.ByteMatchStatement.SearchString]]);
  });

  test('allows everybody but addresses with a bad reputation', () => {
    expect(properties.DefaultAction).toEqual({ Allow: {} });
    expect(rule('known-bad-addresses')).toMatchObject({
      OverrideAction: { None: {} },
      Statement: { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesAmazonIpReputationList' } },
    });
  });

  test('blocks too many requests from one address, as the gateway would', () => {
    const { Statement, Action } = rule('rate-per-address');
    expect(Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: 'IP',
      EvaluationWindowSec: 300,
      Limit: settings.edge!.requestsPer5MinutesPerIp,
    });
    const { ResponseCode, CustomResponseBodyKey } = Action.Block.CustomResponse;
    expect(ResponseCode).toBe(429);
    expect(properties.CustomResponseBodies[CustomResponseBodyKey]).toEqual({
      ContentType: 'APPLICATION_JSON',
      Content: '{"message":"Too Many Requests"}',
    });
  });
});

describe('with a name in a zone, the next key, and requests that may bypass it', () => {
  const own = settingsOf('edge', { ...DEPLOYMENTS.edge, provisioned: [], edgeKey: 'key2', letPast: true });
  const named = synthesized(own);
  const edge = synthesizedEdge(own);
  const { DistributionConfig } = only(named, 'AWS::CloudFront::Distribution').properties;

  test('creates the certificate where CloudFront looks for it, validated in the zone', () => {
    const certificate = only(edge, 'AWS::CertificateManager::Certificate').properties;
    expect(certificate).toMatchObject({
      DomainName: 'sale.example.com',
      ValidationMethod: 'DNS',
      DomainValidationOptions: [{ DomainName: 'sale.example.com', HostedZoneId: 'Z0123456789ABC' }],
    });
    expect(DistributionConfig.ViewerCertificate.AcmCertificateArn).toEqual({
      'Fn::GetStackOutput': { StackName: `${own.name}-edge`, OutputName: 'CertificateArn', Region: 'us-east-1' },
    });
  });

  test('creates the records of the name', () => {
    const records = properties(named, 'AWS::Route53::RecordSet');
    expect(records.map(({ Type, Name, HostedZoneId }) => [Type, Name, HostedZoneId]).sort()).toEqual([
      ['A', 'sale.example.com.', 'Z0123456789ABC'],
      ['AAAA', 'sale.example.com.', 'Z0123456789ABC'],
    ]);
  });

  test('makes CloudFront send the next key, read from the secret when the template changes', () => {
    expect(JSON.stringify(DistributionConfig.Origins)).toContain(':SecretString:key2::}}');
  });

  test('lets functions answer requests that bypassed it', () => {
    for (const name of ANSWERING) {
      const Variables = variablesOf(named, name, own);
      expect(Variables).toHaveProperty('EDGE_KEY_SECRET_ARN');
      expect(Variables).not.toHaveProperty('EDGE_ONLY');
    }
  });
});
