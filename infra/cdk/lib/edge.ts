import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as route53 from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './cdk.ts';
import type { EdgeStack } from './edge-stack.ts';
import type { HttpApi } from './http-api.ts';
import type { Page } from './page.ts';
import type { RustFunction } from './rust-function.ts';
import { type EdgeSettings, FIRST_KEY, type HostedZone } from './settings.ts';

/** Proves that a request came through the edge. Names that begin with X-Edge- are reserved for CloudFront. */
export const KEY_HEADER = 'x-door-key';
/** The buyer's address. The gateway only sees CloudFront's. */
export const VIEWER_HEADER = 'x-viewer-address';

const KEY_LENGTH = 48;
const LINE_CODE = fileURLToPath(new URL('../edge/line.js', import.meta.url));
/** Statuses that CloudFront would otherwise cache for ten seconds, for everybody. */
const NEVER_REMEMBERED = [404, 405, 414, 500, 501, 502, 503, 504];

/**
 * What everybody sees alike, so that one answer serves all of a second's requests. A star also matches slashes, so paths below a
 * sale must come first, and among those the draws before the rest.
 */
const SHARED = ['/v1/campaigns', '/v1/campaigns/*', '/v1/sales', '/v1/sales/*'];
const DRAWS = '/v1/sales/*/rounds/*/draw*';
const LINES = '/v1/sales/*/line';
const BELOW_A_SALE = '/v1/sales/*/*';
/** How long an answer is kept is in its header: a second, or a day for a draw with its seed. */
const AT_MOST = Duration.days(1);

export interface EdgeProps {
  name: string;
  page: Page;
  api: HttpApi;
  edge: EdgeSettings;
  /** The firewall and the certificate, if they were created here. */
  stack: EdgeStack | undefined;
}

/**
 * CloudFront with the firewall, in front of the page and the gateway: one origin. It caches what everybody may see from the
 * gateway for a second, and nothing else.
 */
export class Edge extends Construct {
  readonly url: string;
  /** The domain name that CloudFront assigns, which a record of the own name points to. */
  readonly cloudFrontName: string;
  readonly keyArn: string;
  private readonly letPast: boolean;

  constructor(scope: Construct, id: string, props: EdgeProps) {
    super(scope, id);
    const { domain } = props.edge;
    const webAclArn = props.stack?.webAclArn;
    const certificateArn = domain?.certificateArn ?? props.stack?.certificateArn;
    this.letPast = props.edge.letPast === true;
    // Functions accept any key in it; CloudFront sends one.
    const key = new Secret(this, 'Key', {
      description: 'Keys that prove that requests came through the edge',
      generateSecretString: { secretStringTemplate: '{}', generateStringKey: FIRST_KEY, passwordLength: KEY_LENGTH, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.keyArn = key.secretArn;
    accept(key, 'SMG4', 'CloudFront reads it when it is deployed, so a new key comes first and the old one goes last: `./flash rotate-edge-key`.');

    const gateway = this.gateway(props, key);
    const belowASale = props.edge.line ? this.withLines(gateway, props.name) : gateway;
    const shared = this.shared(props.name, gateway.origin);
    const distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: 'Flash sales',
      webAclId: webAclArn,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      domainNames: domain && [domain.name],
      certificate: certificateArn === undefined ? undefined : acm.Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      minimumProtocolVersion: domain && cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
      errorResponses: NEVER_REMEMBERED.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultRootObject: 'index.html',
      defaultBehavior: props.page.behavior,
      additionalBehaviors: {
        [DRAWS]: shared,
        [LINES]: shared,
        [BELOW_A_SALE]: belowASale,
        ...Object.fromEntries(SHARED.map((path) => [path, shared])),
        '/v1/*': gateway,
      },
    });
    accept(distribution, 'CFR1', 'The shop decides who may buy; the firewall can be given countries.');
    accept(distribution, 'CFR3', "Its log would contain paths, and the path of a reservation contains its buyer's pass.");
    if (domain === undefined) accept(distribution, 'CFR4', 'With its own domain name CloudFront decides; edge.domain requires TLS 1.2.');
    if (webAclArn === undefined) accept(distribution, 'CFR2', 'A firewall costs money while idle: prod has one.');
    if (domain?.zone !== undefined) this.record(domain.name, domain.zone, distribution);
    this.cloudFrontName = distribution.distributionDomainName;
    this.url = `https://${domain?.name ?? this.cloudFrontName}`;
  }

  private record(recordName: string, { id: hostedZoneId, name: zoneName }: HostedZone, to: cloudfront.Distribution): void {
    const zone = route53.HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName });
    const target = route53.RecordTarget.fromAlias(new CloudFrontTarget(to));
    // With the final dot it is the full name.
    new route53.ARecord(this, 'A', { zone, recordName: `${recordName}.`, target });
    new route53.AaaaRecord(this, 'Aaaa', { zone, recordName: `${recordName}.`, target });
  }

  /**
   * Gives a function the key that proves that a request came through the edge, so that it can trust the buyer's address, and
   * refuse requests that bypassed it.
   */
  makeKnownTo(fn: RustFunction): void {
    fn.tell('EDGE_KEY_SECRET_ARN', this.keyArn);
    if (!this.letPast) fn.tell('EDGE_ONLY', 'on');
    fn.allow(['secretsmanager:GetSecretValue'], [this.keyArn]);
  }

  private shared(name: string, origin: cloudfront.IOrigin): cloudfront.BehaviorOptions {
    return {
      origin,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_GET_HEAD,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: new cloudfront.CachePolicy(this, 'Shared', {
        // These names are global to the account, across regions.
        cachePolicyName: `${name}-shared-${Stack.of(this).region}`,
        comment: 'For as long as the answer says, the same for everybody',
        minTtl: Duration.seconds(0),
        defaultTtl: Duration.seconds(0),
        maxTtl: AT_MOST,
        headerBehavior: cloudfront.CacheHeaderBehavior.none(),
        cookieBehavior: cloudfront.CacheCookieBehavior.none(),
        queryStringBehavior: cloudfront.CacheQueryStringBehavior.none(),
      }),
      compress: false,
    };
  }

  private gateway({ name, api, edge }: EdgeProps, key: Secret): cloudfront.BehaviorOptions {
    const writer = `function handler(event) {\n  event.request.headers['${VIEWER_HEADER}'] = { value: event.viewer.ip };\n  return event.request;\n}`;
    return {
      origin: new HttpOrigin(Fn.select(1, Fn.split('://', api.url)), {
        protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
        customHeaders: { [KEY_HEADER]: key.secretValueFromJson(edge.key).unsafeUnwrap() },
      }),
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // The gateway distinguishes APIs by host.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      functionAssociations: [this.onRequests('Address', "Sets the viewer's address, replacing what the viewer sent", writer, name)],
    };
  }

  /** The gateway behind a check of tickets. */
  private withLines(gateway: cloudfront.BehaviorOptions, name: string): cloudfront.BehaviorOptions {
    const keyValueStore = new cloudfront.KeyValueStore(this, 'LineStore', {
      keyValueStoreName: `${name}-line-${Stack.of(this).region}`,
      comment: 'Ticket keys, and the sales whose lines are checked here',
    });
    new CfnOutput(Stack.of(this), 'LineStoreArn', { value: keyValueStore.keyValueStoreArn });
    const comment = "Checks the tickets of sales with a line, and sets the viewer's address";
    return { ...gateway, functionAssociations: [this.onRequests('Line', comment, readFileSync(LINE_CODE, 'utf8'), name, keyValueStore)] };
  }

  /** Runs a function before a request is looked up in the cache. */
  private onRequests(id: string, comment: string, code: string, name: string, keyValueStore?: cloudfront.IKeyValueStore): cloudfront.FunctionAssociation {
    const made = new cloudfront.Function(this, id, {
      // These names are global to the account, across regions.
      functionName: `${name}-${id.toLowerCase()}-${Stack.of(this).region}`,
      comment,
      runtime: cloudfront.FunctionRuntime.JS_2_0,
      code: cloudfront.FunctionCode.fromInline(code),
      keyValueStore,
    });
    return { eventType: cloudfront.FunctionEventType.VIEWER_REQUEST, function: made };
  }
}
