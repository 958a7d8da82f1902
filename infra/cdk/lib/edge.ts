import { Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { HttpApi } from './http-api.ts';
import type { Page } from './page.ts';
import type { RustFunction } from './rust-function.ts';
import type { EdgeSettings } from './settings.ts';

/** Says that a request came through the edge. Names that begin with X-Edge- are CloudFront's own. */
export const KEY_HEADER = 'x-door-key';
/** The buyer's address. The gateway sees that of CloudFront. */
export const VIEWER_HEADER = 'x-viewer-address';

const KEY_LENGTH = 48;
/** What CloudFront would otherwise remember for ten seconds, for everybody. */
const NEVER_REMEMBERED = [404, 405, 414, 500, 501, 502, 503, 504];

export interface EdgeProps {
  name: string;
  page: Page;
  api: HttpApi;
  edge: EdgeSettings;
  webAclArn: string;
}

/** CloudFront with the firewall, in front of the page and the gateway: one origin. It keeps nothing of the gateway's. */
export class Edge extends Construct {
  readonly url: string;
  private readonly keyArn: string;

  constructor(scope: Construct, id: string, props: EdgeProps) {
    super(scope, id);
    const { domain } = props.edge;
    const key = new Secret(this, 'Key', {
      description: 'Known to CloudFront and to the functions that want to know a buyer\'s address',
      generateSecretString: { passwordLength: KEY_LENGTH, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.keyArn = key.secretArn;

    const distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: 'Flash sales',
      webAclId: props.webAclArn,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      domainNames: domain && [domain.name],
      certificate: domain && acm.Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      minimumProtocolVersion: domain && cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
      errorResponses: NEVER_REMEMBERED.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultRootObject: 'index.html',
      defaultBehavior: props.page.behavior,
      additionalBehaviors: { '/v1/*': this.gateway(props, key) },
    });
    this.url = `https://${domain?.name ?? distribution.distributionDomainName}`;
  }

  /** Tells a function how to know that a request came through here, so that it may believe the buyer's address. */
  makeKnownTo(fn: RustFunction): void {
    fn.tell('EDGE_KEY_SECRET_ARN', this.keyArn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.keyArn]);
  }

  private gateway({ name, api }: EdgeProps, key: Secret): cloudfront.BehaviorOptions {
    return {
      origin: new HttpOrigin(Fn.select(1, Fn.split('://', api.url)), {
        protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
        customHeaders: { [KEY_HEADER]: key.secretValue.unsafeUnwrap() },
      }),
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // The gateway tells APIs apart by the host.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      functionAssociations: [
        { eventType: cloudfront.FunctionEventType.VIEWER_REQUEST, function: this.addressWriter(name) },
      ],
    };
  }

  private addressWriter(name: string): cloudfront.Function {
    return new cloudfront.Function(this, 'Address', {
      // One name space for all regions of the account.
      functionName: `${name}-address-${Stack.of(this).region}`,
      comment: 'Writes the address of the viewer over whatever the viewer says it is',
      runtime: cloudfront.FunctionRuntime.JS_2_0,
      code: cloudfront.FunctionCode.fromInline(
        [
          'function handler(event) {',
          `  event.request.headers['${VIEWER_HEADER}'] = { value: event.viewer.ip };`,
          '  return event.request;',
          '}',
        ].join('\n'),
      ),
    });
  }
}
