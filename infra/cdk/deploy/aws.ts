import { ACMClient } from '@aws-sdk/client-acm';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SNSClient } from '@aws-sdk/client-sns';
import { SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient, type STSClientConfig } from '@aws-sdk/client-sts';
import { UsageError } from '../lib/settings.ts';

/** AWS clients of one region, for what a deployment needs to know. */
export type Aws = ReturnType<typeof awsIn>;

/** Tests give a `requestHandler` with prepared answers, and keys that nobody checks. */
export function awsIn(region: string, given: Pick<STSClientConfig, 'requestHandler' | 'credentials' | 'maxAttempts'> = {}) {
  const config = { region, ...given };
  return {
    region,
    acm: new ACMClient(config),
    cloudFormation: new CloudFormationClient(config),
    cognito: new CognitoIdentityProviderClient(config),
    lambda: new LambdaClient(config),
    quotas: new ServiceQuotasClient(config),
    secrets: new SecretsManagerClient(config),
    sns: new SNSClient(config),
    ssm: new SSMClient(config),
    sts: new STSClient(config),
  };
}

/** The account of the current credentials. */
export async function accountOf(aws: Aws, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  try {
    const { Account } = await aws.sts.send(new GetCallerIdentityCommand({}));
    if (Account === undefined) throw new Error('AWS returned no account');
    return Account;
  } catch (error) {
    throw new UsageError(credentialsProblem(error as Error, env));
  }
}

const EXPIRED = ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired'];
const WRONG = ['InvalidClientTokenId', 'SignatureDoesNotMatch', 'UnrecognizedClientException', 'AuthFailure'];

/** What is missing, and how to fix it. */
export function credentialsProblem({ name, message }: Error, env: NodeJS.ProcessEnv): string {
  const profile = env['AWS_PROFILE'];
  if (EXPIRED.includes(name)) {
    return `The AWS credentials have expired. Sign in again: \`aws sso login${profile ? ` --profile ${profile}` : ''}\`, or set new keys.`;
  }
  if (WRONG.includes(name)) return `AWS does not know these credentials (${name}). Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.`;
  if (name !== 'CredentialsProviderError' && !/credential/i.test(message)) {
    return `AWS did not answer whose credentials these are (${name}: ${message}). Check the network, and that the region exists.`;
  }
  const seen = [
    profile ? `AWS_PROFILE is "${profile}", but that profile has none (${message})` : 'AWS_PROFILE is not set',
    env['AWS_ACCESS_KEY_ID'] ? 'AWS_ACCESS_KEY_ID is set' : 'AWS_ACCESS_KEY_ID is not set',
    env['AWS_SECRET_ACCESS_KEY'] ? 'AWS_SECRET_ACCESS_KEY is set' : 'AWS_SECRET_ACCESS_KEY is not set',
    'there is no default profile with credentials in ~/.aws, and this machine has no role',
  ];
  return [
    'There are no AWS credentials:',
    ...seen.map((line) => `  - ${line}`),
    'Provide some in one of these ways, and run the command again:',
    '  aws configure sso && export AWS_PROFILE=NAME            (an account with IAM Identity Center)',
    '  export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…      (keys of a user, or of a role with AWS_SESSION_TOKEN)',
  ].join('\n');
}
