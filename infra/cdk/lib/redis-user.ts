import { RemovalPolicy } from 'aws-cdk-lib';
import * as elasticache from 'aws-cdk-lib/aws-elasticache';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './cdk.ts';
import type { RustFunction } from './rust-function.ts';

const USER = 'functions';
// Letters and digits: ElastiCache accepts 16 to 128 of them.
const LENGTH = 64;
/** Keys and scripts, and what a client needs to use a cluster. Nothing that stops, empties or lists it. */
export const MAY = [
  'on',
  '~*',
  'resetchannels',
  ...['-@all', '+@read', '+@write', '+@scripting', '+@connection', '+time'],
  ...['+cluster|slots', '+cluster|shards', '+cluster|nodes', '+cluster|info'],
  '-@dangerous',
].join(' ');

/** The functions' user of the stock, with a password that only they and the cluster know. */
export class RedisUser extends Construct {
  readonly groupId: string;
  private readonly secretArn: string;

  constructor(scope: Construct, id: string, name: string) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'User and password for the stock',
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ username: USER }),
        generateStringKey: 'password',
        passwordLength: LENGTH,
        excludePunctuation: true,
      },
      // A cluster that is created again gets a new one.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    accept(secret, 'SMG4', 'Only deployed functions sign in, from a network without a way in; the README says how to change it.');
    this.secretArn = secret.secretArn;
    const passwords = [secret.secretValueFromJson('password').unsafeUnwrap()];
    const make = (userName: string, accessString: string): elasticache.CfnUser =>
      new elasticache.CfnUser(this, userName, {
        userId: `${name}-${userName}`,
        userName,
        engine: 'valkey',
        accessString,
        passwords,
      });
    // Without ours there would be AWS's default user. Nobody signs in with this one.
    const nobody = make('default', 'off ~* -@all');
    const functions = make(USER, MAY);
    const group = new elasticache.CfnUserGroup(this, 'Group', { userGroupId: name, engine: 'valkey', userIds: [nobody.ref, functions.ref] });
    this.groupId = group.ref;
  }

  signInFrom(fn: RustFunction): void {
    fn.tell('REDIS_AUTH_SECRET_ARN', this.secretArn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.secretArn]);
  }
}
