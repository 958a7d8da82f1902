import { Stack } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { accept, isProtected, kept } from './cdk.ts';
import { OPERATOR_GROUP } from './functions.ts';
import type { Settings } from './settings.ts';

/** The issuer of buyers' and operators' tokens: any OIDC issuer, or a user pool created here. */
export class Identity extends Construct {
  readonly issuer: string;
  readonly audience: string[];
  /** The user pool and its clients, as the stack outputs them. */
  readonly userPool: Record<'UserPoolId' | 'UserPoolClientId' | 'SmokeClientId', string> | undefined;
  /** Where the page asks for tokens. */
  readonly origins: string[] = [];
  private readonly shop: cognito.UserPoolClient | undefined;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    if (settings.issuer !== undefined) {
      this.issuer = settings.issuer;
      this.audience = settings.audience;
      this.origins = [new URL(this.issuer).origin];
      return;
    }
    const pool = new cognito.UserPool(this, 'Users', {
      userPoolName: settings.name,
      selfSignUpEnabled: true,
      signInAliases: { email: true },
      passwordPolicy: { minLength: 12, requireLowercase: true, requireUppercase: true, requireDigits: true, requireSymbols: true },
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      deletionProtection: isProtected(settings),
      removalPolicy: kept(settings),
    });
    const standIn = "A stand-in for the shop's real issuer, which has its own rules about users.";
    for (const rule of ['COG2', 'COG8']) accept(pool, rule, standIn);
    // The page's: a public client, whose code is worthless without the page's own secret (PKCE).
    this.shop = pool.addClient('Shop', {
      authFlows: { userSrp: true },
      oAuth: { flows: { authorizationCodeGrant: true }, scopes: [cognito.OAuthScope.OPENID] },
      preventUserExistenceErrors: true,
    });
    // The smoke test's: only callers with AWS credentials get tokens from it.
    const smoke = pool.addClient('Smoke', { authFlows: { adminUserPassword: true }, disableOAuth: true, preventUserExistenceErrors: true });
    pool.addGroup('Operators', { groupName: OPERATOR_GROUP, description: 'May use /v1/admin' });
    const { account, region, urlSuffix } = Stack.of(this);
    // The value of ProviderURL on AWS; the emulator has no such attribute.
    this.issuer = `https://cognito-idp.${region}.${urlSuffix}/${pool.userPoolId}`;
    this.audience = [this.shop.userPoolClientId, smoke.userPoolClientId];
    this.userPool = { UserPoolId: pool.userPoolId, UserPoolClientId: this.shop.userPoolClientId, SmokeClientId: smoke.userPoolClientId };
    // The emulator has no such pages.
    if (settings.emulator !== undefined) return;
    // The account makes it unique in the region; it must not contain "aws", "amazon" or "cognito".
    const prefix = `${settings.name}-${account}`;
    pool.addDomain('SignIn', { cognitoDomain: { domainPrefix: prefix } });
    this.origins = [`https://cognito-idp.${region}.${urlSuffix}`, `https://${prefix}.auth.${region}.amazoncognito.com`];
  }

  /** Lets users sign in to the page at this address. */
  signInAt(url: string): void {
    if (this.shop === undefined) return;
    const client = this.shop.node.defaultChild as cognito.CfnUserPoolClient;
    client.callbackUrLs = ['/', '/operators.html'].map((path) => `${url}${path}`);
  }
}
