import { RemovalPolicy } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// As long as that of payments, for the same signature.
const LENGTH = 48;

/** The key with which the gift service is told of winners. */
export class WinnerSecret extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Signing key of notifications of winners',
      generateSecretString: { passwordLength: LENGTH, excludePunctuation: true },
      removalPolicy: settings.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    accept(secret, 'SMG4', 'The gift service has to hear of a new key, and has no interface for it.');
    this.arn = secret.secretArn;
  }

  readFrom(fn: RustFunction): void {
    fn.tell('WINNER_SECRET_ARN', this.arn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.arn]);
  }
}
