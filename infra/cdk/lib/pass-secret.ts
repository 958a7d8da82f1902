import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import { kept } from './kept.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// Letters and digits only: 48 of them are about 285 bits, more than the seal's SHA-256 can use.
const LENGTH = 48;

/** The keys with which passes into a sale are sealed: the one that seals, and all that open. */
export class PassSecret extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Keys of the passes into a sale',
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
      'A key is changed by adding one, and taking the old one away when its last pass is over. AWS would replace it.',
    );
    this.arn = secret.secretArn;
  }

  readFrom(fn: RustFunction): void {
    fn.tell('PASS_SECRET_ARN', this.arn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.arn]);
  }
}
