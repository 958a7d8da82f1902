import { CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as route53 from 'aws-cdk-lib/aws-route53';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import type { EdgeSettings, HostedZone, Settings } from './settings.ts';
import { synthesizerOf } from './cdk.ts';

/**
 * The payment provider's callbacks come from a few addresses, as many as there are orders. They are signed, and an order whose
 * callback is refused expires.
 */
const CALLBACKS = '/v1/payments/webhook';
/** The region of everything that CloudFront's edges use. */
export const EDGE_REGION = 'us-east-1';
const TURNED_AWAY = 'turned-away';

/** Whether an edge needs its own stack. */
export function needsEdgeStack({ requestsPer5MinutesPerIp, domain }: EdgeSettings): boolean {
  return requestsPer5MinutesPerIp !== undefined || certifiedIn(domain) !== undefined;
}

/** The zone in which the certificate is validated; `undefined` if none is made. */
function certifiedIn(domain: EdgeSettings['domain']): HostedZone | undefined {
  return domain?.certificateArn === undefined ? domain?.zone : undefined;
}

/** The name of the edge's stack, in EDGE_REGION. */
export const edgeStackOf = (name: string): string => `${name}-edge`;

/**
 * The firewall of the edge, and the certificate of its name. AWS WAF does not support HTTP APIs, so it is attached to a
 * CloudFront distribution in front; and what CloudFront uses must be in us-east-1, hence its own stack.
 */
export class EdgeStack extends Stack {
  /** The firewall's ARN, as a reference that stacks of other regions can use. */
  readonly webAclArn: string | undefined;
  /** The certificate's ARN, in the same form. */
  readonly certificateArn: string | undefined;

  constructor(scope: Construct, id: string, props: { settings: Settings; edge: EdgeSettings }) {
    const { name } = props.settings;
    super(scope, id, {
      stackName: edgeStackOf(name),
      description: 'Firewall in front of the flash sales',
      env: { region: EDGE_REGION },
      synthesizer: synthesizerOf(props.settings),
    });
    const { requestsPer5MinutesPerIp: limit, domain } = props.edge;
    if (limit !== undefined) this.webAclArn = this.told('FirewallArn', this.firewall(name, limit).attrArn);
    const certified = certifiedIn(domain);
    if (domain !== undefined && certified !== undefined) {
      const { id: hostedZoneId, name: zoneName } = certified;
      const zone = route53.HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName });
      const validation = acm.CertificateValidation.fromDns(zone);
      const certificate = new acm.Certificate(this, 'Certificate', { domainName: domain.name, validation });
      this.certificateArn = this.told('CertificateArn', certificate.certificateArn);
    }
  }

  private told(output: string, arn: string): string {
    new CfnOutput(this, output, { value: arn });
    // By hand, since CDK asks for the reader's region, which CloudFormation does not need.
    return Fn.getStackOutput(this.stackName, output, EDGE_REGION);
  }

  private firewall(name: string, limit: number): wafv2.CfnWebACL {
    return new wafv2.CfnWebACL(this, 'Firewall', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: seenAs(`${name}-edge`),
      customResponseBodies: {
        // The same form as the gateway's.
        [TURNED_AWAY]: { contentType: 'APPLICATION_JSON', content: JSON.stringify({ message: 'Too Many Requests' }) },
      },
      rules: [
        {
          name: 'known-bad-addresses',
          priority: 0,
          statement: {
            managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList', scopeDownStatement: allBut(CALLBACKS) },
          },
          overrideAction: { none: {} },
          visibilityConfig: seenAs('known-bad-addresses'),
        },
        {
          name: 'rate-per-address',
          priority: 1,
          statement: { rateBasedStatement: { aggregateKeyType: 'IP', evaluationWindowSec: 300, limit, scopeDownStatement: allBut(CALLBACKS) } },
          action: { block: { customResponse: { responseCode: 429, customResponseBodyKey: TURNED_AWAY } } },
          visibilityConfig: seenAs('rate-per-address'),
        },
      ],
    });
  }
}

/** Requests for any path except exactly this one. */
function allBut(path: string): wafv2.CfnWebACL.StatementProperty {
  return {
    notStatement: {
      statement: {
        byteMatchStatement: {
          fieldToMatch: { uriPath: {} },
          positionalConstraint: 'EXACTLY',
          searchString: path,
          textTransformations: [{ priority: 0, type: 'NONE' }],
        },
      },
    },
  };
}

function seenAs(metricName: string): wafv2.CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}
