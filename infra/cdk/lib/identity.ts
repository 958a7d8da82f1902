import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import { OPERATOR_GROUP } from './functions.ts';
import type { Settings } from './settings.ts';

/** Who signs the buyers' and operators' tokens: any OIDC issuer, or a user pool made here. */
export class Identity extends Construct {
  readonly issuer: string;
  readonly audience: string[];
  readonly userPool: { id: string; clientId: string } | undefined;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    if (settings.identity.kind === 'oidc') {
      this.issuer = settings.identity.issuer;
      this.audience = settings.identity.audience;
      return;
    }
    const pool = new cognito.UserPool(this, 'Users', {
      userPoolName: settings.name,
      selfSignUpEnabled: true,
      signInAliases: { email: true },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      deletionProtection: settings.keepData,
      removalPolicy: settings.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const standIn = 'A stand-in for the issuer of a shop, which has rules of its own about its people.';
    for (const rule of ['COG2', 'COG8']) accept(pool, rule, standIn);
    const client = pool.addClient('Shop', {
      authFlows: { userSrp: true },
      disableOAuth: true,
      preventUserExistenceErrors: true,
    });
    pool.addGroup('Operators', { groupName: OPERATOR_GROUP, description: 'May use /v1/admin' });
    const { region, urlSuffix } = Stack.of(this);
    // What ProviderURL says on AWS; the emulator has no such attribute.
    this.issuer = `https://cognito-idp.${region}.${urlSuffix}/${pool.userPoolId}`;
    this.audience = [client.userPoolClientId];
    this.userPool = { id: pool.userPoolId, clientId: client.userPoolClientId };
  }
}
