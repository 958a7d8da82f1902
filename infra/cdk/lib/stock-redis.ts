import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elasticache from 'aws-cdk-lib/aws-elasticache';
import { Construct } from 'constructs';
import type { RustFunction } from './rust-function.ts';
import type { ElastiCacheRedis, Settings } from './settings.ts';

const ENGINE = { engine: 'valkey', engineVersion: '8.1', family: 'valkey8' };
const REDIS_PORT = 6379;
const HTTPS_PORT = 443;
const ZONES = 2;
const ADDRESSES = '10.0.0.0/16';

/** The stock's Redis and the network around it. With an external one there is no network at all. */
export class StockRedis extends Construct {
  readonly url: string;
  /** Where a function must run to reach it. */
  readonly network: { vpc: ec2.Vpc; securityGroup: ec2.SecurityGroup } | undefined;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    if (settings.redis.kind === 'external') {
      this.url = settings.redis.url;
      return;
    }
    const vpc = isolatedVpc(this);
    const functions = new ec2.SecurityGroup(this, 'Functions', { vpc, allowAllOutbound: false });
    functions.addEgressRule(ec2.Peer.ipv4(ADDRESSES), ec2.Port.tcp(REDIS_PORT), 'the stock');
    // The subnets have no route out, so this ends at the endpoints of the VPC. DynamoDB's own address list has an
    // id per region that CloudFormation cannot look up.
    functions.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(HTTPS_PORT), 'AWS through the endpoints');
    // By id, so that the rules stay inside the groups: the emulator knows no rules that stand alone.
    const fromFunctions = ec2.Peer.securityGroupId(functions.securityGroupId);
    const servers = new ec2.SecurityGroup(this, 'Servers', { vpc, allowAllOutbound: false });
    servers.addIngressRule(fromFunctions, ec2.Port.tcp(REDIS_PORT), 'functions');
    serviceEndpoints(vpc, fromFunctions);

    const group = replicationGroup(this, settings.redis, vpc, servers);
    const scheme = settings.redis.tls ? 'rediss' : 'redis';
    this.url = `${scheme}://${group.attrPrimaryEndPointAddress}:${group.attrPrimaryEndPointPort}`;
    this.network = { vpc, securityGroup: functions };
  }

  useFrom(fn: RustFunction): void {
    if (!fn.facts.redis) throw new Error(`The function ${fn.name} is not declared to use Redis`);
    fn.tell('REDIS_URL', this.url);
  }
}

function isolatedVpc(scope: Construct): ec2.Vpc {
  return new ec2.Vpc(scope, 'Vpc', {
    ipAddresses: ec2.IpAddresses.cidr(ADDRESSES),
    maxAzs: ZONES,
    natGateways: 0,
    // Nothing is in the default group, and closing it would take a function of CDK's own.
    restrictDefaultSecurityGroup: false,
    subnetConfiguration: [{ name: 'isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 20 }],
  });
}

function serviceEndpoints(vpc: ec2.Vpc, functions: ec2.IPeer): void {
  vpc.addGatewayEndpoint('DynamoDb', { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB });
  const securityGroup = new ec2.SecurityGroup(vpc, 'Endpoints', { vpc, allowAllOutbound: false });
  securityGroup.addIngressRule(functions, ec2.Port.tcp(HTTPS_PORT), 'functions');
  const { SQS, SECRETS_MANAGER } = ec2.InterfaceVpcEndpointAwsService;
  for (const [id, service] of Object.entries({ Sqs: SQS, SecretsManager: SECRETS_MANAGER })) {
    vpc.addInterfaceEndpoint(id, { service, securityGroups: [securityGroup], open: false });
  }
}

function replicationGroup(
  scope: Construct,
  redis: ElastiCacheRedis,
  vpc: ec2.Vpc,
  securityGroup: ec2.SecurityGroup,
): elasticache.CfnReplicationGroup {
  const subnets = new elasticache.CfnSubnetGroup(scope, 'Subnets', {
    description: 'Isolated subnets',
    subnetIds: vpc.isolatedSubnets.map((subnet) => subnet.subnetId),
  });
  const parameters = new elasticache.CfnParameterGroup(scope, 'Parameters', {
    cacheParameterGroupFamily: ENGINE.family,
    description: 'A full stock refuses writes',
    // The default evicts keys with a TTL, and every key of a round has one.
    properties: { 'maxmemory-policy': 'noeviction' },
  });
  const replicated = redis.replicas > 0;
  return new elasticache.CfnReplicationGroup(scope, 'Group', {
    replicationGroupDescription: 'The stock of the sales',
    engine: ENGINE.engine,
    engineVersion: ENGINE.engineVersion,
    cacheNodeType: redis.nodeType,
    numCacheClusters: 1 + redis.replicas,
    automaticFailoverEnabled: replicated,
    multiAzEnabled: replicated,
    port: REDIS_PORT,
    transitEncryptionEnabled: redis.tls,
    atRestEncryptionEnabled: true,
    cacheParameterGroupName: parameters.ref,
    cacheSubnetGroupName: subnets.ref,
    securityGroupIds: [securityGroup.securityGroupId],
  });
}
