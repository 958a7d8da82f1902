import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { logGroup } from './cdk.ts';
import type { Settings } from './settings.ts';

const HTTPS_PORT = 443;
const ZONES = 2;
const ADDRESSES = '10.0.0.0/16';

/**
 * A network without a way in: the stock, the functions that use it, and their way to AWS. That is endpoints, or IPv6 through an
 * egress-only gateway: SQS and Secrets Manager support IPv6, and DynamoDB's endpoint is free.
 */
export class Network extends ec2.Vpc {
  /** The functions' group. */
  readonly functions: ec2.SecurityGroup;
  /** The group of the stock's nodes. */
  readonly servers: ec2.SecurityGroup;

  constructor(scope: Construct, id: string, settings: Settings, redisPort: number) {
    super(scope, id, {
      ipAddresses: ec2.IpAddresses.cidr(ADDRESSES),
      maxAzs: ZONES,
      natGateways: 0,
      ipProtocol: settings.network === 'dual-stack' ? ec2.IpProtocol.DUAL_STACK : ec2.IpProtocol.IPV4_ONLY,
      // Nothing uses the default group, and closing it would take one of CDK's own functions.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: 'isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 20 }],
    });
    this.functions = new ec2.SecurityGroup(scope, 'Functions', { vpc: this, allowAllOutbound: false });
    this.functions.addEgressRule(ec2.Peer.ipv4(ADDRESSES), ec2.Port.tcp(redisPort), 'the stock');
    // The subnets have no route out, so this ends at the endpoints of the VPC. DynamoDB's own address list has a different id in
    // each region, which CloudFormation cannot look up.
    this.functions.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(HTTPS_PORT), 'AWS through the endpoints');
    // By id, so that the rules stay inside the groups: the emulator does not support standalone rules.
    const fromFunctions = ec2.Peer.securityGroupId(this.functions.securityGroupId);
    this.servers = new ec2.SecurityGroup(scope, 'Servers', { vpc: this, allowAllOutbound: false });
    this.servers.addIngressRule(fromFunctions, ec2.Port.tcp(redisPort), 'functions');
    this.addGatewayEndpoint('DynamoDb', { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB });
    if (settings.network === 'dual-stack') this.addWayOut();
    else this.addEndpoints(fromFunctions);
    // The emulator has no flow logs.
    if (settings.emulator === undefined) this.logRejected(settings);
  }

  /** A function's logs and metrics do not use its network, and nothing in here calls a WebSocket API. */
  private addEndpoints(functions: ec2.IPeer): void {
    const securityGroup = new ec2.SecurityGroup(this, 'Endpoints', { vpc: this, allowAllOutbound: false });
    securityGroup.addIngressRule(functions, ec2.Port.tcp(HTTPS_PORT), 'functions');
    const { SQS, SECRETS_MANAGER } = ec2.InterfaceVpcEndpointAwsService;
    for (const [id, service] of Object.entries({ Sqs: SQS, SecretsManager: SECRETS_MANAGER })) {
      this.addInterfaceEndpoint(id, { service, securityGroups: [securityGroup], open: false });
    }
  }

  /** Egress only: nobody can open a connection to a function through it. */
  private addWayOut(): void {
    const gateway = new ec2.CfnEgressOnlyInternetGateway(this, 'WayOut', { vpcId: this.vpcId });
    for (const [index, subnet] of this.isolatedSubnets.entries()) {
      new ec2.CfnRoute(this, `WayOut${index}`, {
        routeTableId: subnet.routeTable.routeTableId,
        destinationIpv6CidrBlock: '::/0',
        egressOnlyInternetGatewayId: gateway.ref,
      });
    }
    this.functions.addEgressRule(ec2.Peer.anyIpv6(), ec2.Port.tcp(HTTPS_PORT), 'AWS over IPv6');
  }

  /** Rejected traffic is rare and worth a line; accepted traffic is every request. */
  private logRejected(settings: Settings): void {
    const log = logGroup(this, 'RejectedLog', settings, `/aws/vpc/${settings.name}/rejected`);
    this.addFlowLog('Rejected', { destination: ec2.FlowLogDestination.toCloudWatchLogs(log), trafficType: ec2.FlowLogTrafficType.REJECT });
  }
}
