import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import { kept } from './kept.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// Letters and digits only: 48 of them are about 285 bits, more than SHA-256 can use.
const LENGTH = 48;

/** The key that signs the payment provider's callbacks. */
export class PaymentSecret extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Signing key of the payment webhook',
      generateSecretString: { passwordLength: LENGTH, excludePunctuation: true },
      removalPolicy: kept(settings),
    });
    accept(secret, 'SMG4', 'A new key has to be given to the payment provider, which has no API for that.');
    this.arn = secret.secretArn;
  }

  readFrom(fn: RustFunction, variable = 'PAYMENT_SECRET_ARN'): void {
    fn.tell(variable, this.arn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.arn]);
  }
}
