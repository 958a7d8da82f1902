import { type SecretStringGenerator, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept, kept } from './cdk.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

// Letters and digits only: 48 of them are about 285 bits, more than SHA-256 can use.
const LENGTH = 48;

export interface KeySecretProps {
  description: string;
  /** The environment variable with its ARN. */
  variable: string;
  /** Why AWS does not rotate it. */
  unrotated: string;
  /** If it is not only a key: the JSON around it. */
  json?: Pick<SecretStringGenerator, 'secretStringTemplate' | 'generateStringKey'>;
}

/** A key that AWS has generated, and who may read it. */
export class KeySecret extends Construct {
  readonly arn: string;
  private readonly variable: string;

  constructor(scope: Construct, id: string, settings: Settings, { description, variable, unrotated, json }: KeySecretProps) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description,
      generateSecretString: { ...json, passwordLength: LENGTH, excludePunctuation: true },
      removalPolicy: kept(settings),
    });
    accept(secret, 'SMG4', unrotated);
    this.arn = secret.secretArn;
    this.variable = variable;
  }

  readFrom(fn: RustFunction, variable = this.variable): void {
    fn.tell(variable, this.arn);
    fn.allow(['secretsmanager:GetSecretValue'], [this.arn]);
  }
}
