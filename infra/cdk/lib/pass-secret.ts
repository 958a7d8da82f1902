import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import { kept } from './kept.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// Letters and digits only: 48 of them are about 285 bits, more than SHA-256 can use.
const LENGTH = 48;

/** The keys that seal passes into a sale: one signs, all of them open. */
export class PassSecret extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Keys that seal passes into a sale',
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ signing: 1 }),
        generateStringKey: 'key1',
        passwordLength: LENGTH,
        excludePunctuation: true,
      },
      removalPolicy: kept(settings),
    });
    accept(
      secret,
      'SMG4',
      'A rotation adds a key, and removes the old one when its last pass has expired. AWS would replace it at once.',
    );
    this.arn = secret.secretArn;
  }

  readFrom(fn: RustFunction): void {
    fn.tell('PASS_SECRET_ARN', this.arn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.arn]);
  }
}
