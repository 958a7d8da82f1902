import { CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { type EdgeSettings, type Settings, validated } from './settings.ts';

/** Where AWS keeps everything that CloudFront's edges ask. */
const EDGE_REGION = 'us-east-1';
const WINDOW_S = 300;
const TURNED_AWAY = 'turned-away';
const FIREWALL_ARN = 'FirewallArn';

/**
 * The firewall of the edge. AWS WAF takes no HTTP API, so it stands at a CloudFront distribution before it; and a
 * firewall for CloudFront lives in us-east-1, so it is a stack of its own wherever the rest is.
 */
export class EdgeStack extends Stack {
  /** Its ARN, as a stack of another region reads it. */
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, props: { settings: Settings; edge: EdgeSettings }) {
    const { name } = validated(props.settings);
    super(scope, id, {
      stackName: `${name}-edge`,
      description: 'Firewall in front of the flash sales',
      env: { region: EDGE_REGION },
    });
    const acl = new wafv2.CfnWebACL(this, 'Firewall', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: seenAs(`${name}-edge`),
      customResponseBodies: {
        // As the gateway says it.
        [TURNED_AWAY]: { contentType: 'APPLICATION_JSON', content: JSON.stringify({ message: 'Too Many Requests' }) },
      },
      rules: [
        {
          name: 'known-bad-addresses',
          priority: 0,
          statement: { managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' } },
          overrideAction: { none: {} },
          visibilityConfig: seenAs('known-bad-addresses'),
        },
        {
          name: 'rate-per-address',
          priority: 1,
          statement: {
            rateBasedStatement: {
              aggregateKeyType: 'IP',
              evaluationWindowSec: WINDOW_S,
              limit: props.edge.requestsPer5MinutesPerIp,
            },
          },
          action: { block: { customResponse: { responseCode: 429, customResponseBodyKey: TURNED_AWAY } } },
          visibilityConfig: seenAs('rate-per-address'),
        },
      ],
    });
    new CfnOutput(this, FIREWALL_ARN, { value: acl.attrArn });
    // By hand, since CDK asks for the reader's region where CloudFormation does not.
    this.webAclArn = Fn.getStackOutput(this.stackName, FIREWALL_ARN, EDGE_REGION);
  }
}

function seenAs(metricName: string): wafv2.CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}
