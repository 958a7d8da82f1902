import { RemovalPolicy } from 'aws-cdk-lib';
import * as elasticache from 'aws-cdk-lib/aws-elasticache';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './cdk.ts';
import type { Alarms } from './alarms.ts';
import type { Part } from './dashboard.ts';
import { Network } from './network.ts';
import type { RustFunction } from './rust-function.ts';
import type { ElastiCacheRedis, Settings } from './settings.ts';
import { watchRedis } from './watched.ts';

/** The family belongs to the version. */
const ENGINE = { engine: 'valkey', engineVersion: '9.0' };
const FAMILY = 'valkey9';
const REDIS_PORT = 6379;
const USER = 'functions';
// Letters and digits: ElastiCache accepts 16 to 128 of them.
const PASSWORD_LENGTH = 64;
/** Keys and scripts, and what a client needs to use a cluster. Nothing that stops, empties or lists it. */
export const MAY =
  'on ~* resetchannels -@all +@read +@write +@scripting +@connection +time ' +
  '+cluster|slots +cluster|shards +cluster|nodes +cluster|info -@dangerous';

/** The stock's Redis and the network around it. With an external Redis there is no network. */
export class StockRedis extends Construct {
  readonly url: string;
  /** Where a function must run to reach it. */
  readonly network: Network | undefined;
  /** The stock's part of the dashboard. */
  readonly part: Part | undefined;
  private readonly user: RedisUser | undefined;

  constructor(scope: Construct, id: string, settings: Settings, alarms: Alarms) {
    super(scope, id);
    const { redis, redisUrl } = settings;
    if (redisUrl !== undefined) {
      this.url = redisUrl;
      return;
    }
    this.network = new Network(this, 'Vpc', settings, REDIS_PORT);
    if (redis.authentication) this.user = new RedisUser(this, 'User', settings.name);

    const group = replicationGroup(this, settings, this.network, this.user);
    this.url = urlOf(group, settings);
    this.part = watchRedis(settings, alarms, nodesOf(group, redis));
  }

  useFrom(fn: RustFunction): void {
    fn.tell('REDIS_URL', this.url);
    this.user?.signInFrom(fn);
  }
}

function urlOf(group: elasticache.CfnReplicationGroup, { redis, emulator }: Settings): string {
  const scheme = emulator === undefined ? 'rediss' : 'redis';
  return redis.shards === undefined
    ? `${scheme}://${group.attrPrimaryEndPointAddress}:${group.attrPrimaryEndPointPort}`
    : `${scheme}+cluster://${group.attrConfigurationEndPointAddress}:${group.attrConfigurationEndPointPort}`;
}

/** The nodes of each shard, by the names that ElastiCache derives from the group's. */
function nodesOf(group: elasticache.CfnReplicationGroup, { shards, replicas }: ElastiCacheRedis): string[][] {
  const digits = (index: number, width: number): string => String(index + 1).padStart(width, '0');
  return Array.from({ length: shards ?? 1 }, (_, shard) => {
    const inShard = shards === undefined ? '' : `-${digits(shard, 4)}`;
    return Array.from({ length: 1 + replicas }, (_, node) => `${group.ref}${inShard}-${digits(node, 3)}`);
  });
}

function replicationGroup(scope: Construct, { redis, emulator }: Settings, network: Network, user: RedisUser | undefined): elasticache.CfnReplicationGroup {
  const subnets = new elasticache.CfnSubnetGroup(scope, 'Subnets', {
    description: 'Isolated subnets',
    subnetIds: network.isolatedSubnets.map((subnet) => subnet.subnetId),
  });
  const clustered = redis.shards !== undefined;
  const parameters = new elasticache.CfnParameterGroup(scope, 'Parameters', {
    cacheParameterGroupFamily: FAMILY,
    description: 'A full node refuses writes',
    properties: {
      // The default evicts keys with a TTL, which all keys of a round have.
      'maxmemory-policy': 'noeviction',
      ...(clustered && { 'cluster-enabled': 'yes' }),
    },
  });
  const replicated = redis.replicas > 0;
  const group = new elasticache.CfnReplicationGroup(scope, 'Group', {
    replicationGroupDescription: 'Stock of the sales',
    ...ENGINE,
    cacheNodeType: redis.nodeType,
    ...(clustered
      ? { clusterMode: 'enabled', numNodeGroups: redis.shards, replicasPerNodeGroup: redis.replicas }
      : { numCacheClusters: 1 + redis.replicas }),
    // ElastiCache requires it for cluster mode, even without replicas.
    automaticFailoverEnabled: replicated || clustered,
    multiAzEnabled: replicated,
    port: REDIS_PORT,
    transitEncryptionEnabled: emulator === undefined,
    atRestEncryptionEnabled: true,
    durability: redis.durability === 'disabled' ? undefined : redis.durability,
    userGroupIds: user && [user.groupId],
    cacheParameterGroupName: parameters.ref,
    cacheSubnetGroupName: subnets.ref,
    securityGroupIds: [network.servers.securityGroupId],
  });
  // Adds shards online. Otherwise the cluster would be replaced.
  if (clustered) group.cfnOptions.updatePolicy = { useOnlineResharding: true };
  if (user !== undefined)
    accept(group, 'AEC6', 'It has users with passwords instead of the single token that the rule requires.');
  else accept(group, 'AEC6', 'For disposable data: the network only lets functions in.');
  if (!replicated)
    accept(group, 'AEC4', 'A single node on purpose, for disposable data: Redis is loaded from the ledger.');
  return group;
}

/** The functions' user of the stock, with a password that only they and the cluster know. */
class RedisUser extends Construct {
  readonly groupId: string;
  private readonly secretArn: string;

  constructor(scope: Construct, id: string, name: string) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'User and password for the stock',
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ username: USER }),
        generateStringKey: 'password',
        passwordLength: PASSWORD_LENGTH,
        excludePunctuation: true,
      },
      // A cluster that is created again gets a new one.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    accept(secret, 'SMG4', 'Only deployed functions sign in, from a network without a way in; the README says how to change it.');
    this.secretArn = secret.secretArn;
    const passwords = [secret.secretValueFromJson('password').unsafeUnwrap()];
    const make = (userName: string, accessString: string): elasticache.CfnUser =>
      new elasticache.CfnUser(this, userName, { userId: `${name}-${userName}`, userName, engine: ENGINE.engine, accessString, passwords });
    // Without ours there would be AWS's default user. Nobody signs in with this one.
    const nobody = make('default', 'off ~* -@all');
    const functions = make(USER, MAY);
    const group = new elasticache.CfnUserGroup(this, 'Group', { userGroupId: name, engine: ENGINE.engine, userIds: [nobody.ref, functions.ref] });
    this.groupId = group.ref;
  }

  signInFrom(fn: RustFunction): void {
    fn.tell('REDIS_AUTH_SECRET_ARN', this.secretArn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.secretArn]);
  }
}
