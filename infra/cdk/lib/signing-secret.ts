import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import { kept } from './kept.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// As long as that of payments, for the same signature.
const LENGTH = 48;

export interface SigningSecretProps {
  settings: Settings;
  /** What is signed with it. */
  signs: string;
  /** Who verifies the signatures. */
  receiver: string;
  /** The environment variable with its ARN. */
  variable: string;
}

/** A key, and who may read it. */
export interface SigningKey {
  readonly arn: string;
  readFrom(fn: RustFunction): void;
}

/** The key that signs requests to a system of the merchant's. */
export class SigningSecret extends Construct implements SigningKey {
  readonly arn: string;
  private readonly variable: string;

  constructor(scope: Construct, id: string, { settings, signs, receiver, variable }: SigningSecretProps) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: `Signing key of ${signs}`,
      generateSecretString: { passwordLength: LENGTH, excludePunctuation: true },
      removalPolicy: kept(settings),
    });
    accept(secret, 'SMG4', `${receiver} has to be given a new key, and has no API for that.`);
    this.arn = secret.secretArn;
    this.variable = variable;
  }

  readFrom(fn: RustFunction): void {
    fn.tell(this.variable, this.arn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.arn]);
  }
}
