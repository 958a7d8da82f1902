import { randomBytes } from 'node:crypto';
import {
  AdminAddUserToGroupCommand, AdminCreateUserCommand, AdminDeleteUserCommand, AdminInitiateAuthCommand,
  AdminSetUserPasswordCommand, DescribeUserPoolClientCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { OPERATOR_GROUP } from '../lib/functions.ts';
import { UsageError } from '../lib/settings.ts';
import type { Aws } from './aws.ts';

type Outputs = Record<string, string>;
type Role = 'buyer' | 'operator';

function poolOf({ UserPoolId }: Outputs): { UserPoolId: string } {
  if (UserPoolId !== undefined) return { UserPoolId };
  throw new UsageError('This deployment has no user pool: add the person to the group `operators` at your issuer (infra/cdk/README.md, "Operators").');
}

/** Makes a user an operator, and returns where they sign in. Repeating it changes nothing. */
export async function makeOperator({ cognito }: Aws, outputs: Outputs, email: string): Promise<string> {
  const pool = poolOf(outputs);
  const person = { ...pool, Username: email };
  const UserAttributes = [{ Name: 'email', Value: email }, { Name: 'email_verified', Value: 'true' }];
  let how = 'gets a message with an initial password';
  try {
    await cognito.send(new AdminCreateUserCommand({ ...person, UserAttributes, DesiredDeliveryMediums: ['EMAIL'] }));
  } catch (error) {
    if ((error as Error).name !== 'UsernameExistsException') throw error;
    how = 'existed already, and keeps the password';
  }
  await cognito.send(new AdminAddUserToGroupCommand({ ...person, GroupName: OPERATOR_GROUP }));
  const { UserPoolClient } = await cognito.send(new DescribeUserPoolClientCommand({ ...pool, ClientId: outputs['UserPoolClientId'] }));
  const page = UserPoolClient?.CallbackURLs?.find((url) => url.endsWith('operators.html'));
  return `${email} is an operator and ${how}: ${page ?? outputs['EdgeUrl']}. If already signed in, they must sign in again.`;
}

/** Does something with tokens of two temporary users. */
export async function withUsers({ cognito }: Aws, outputs: Outputs, work: (token: (role: Role) => Promise<string>) => Promise<void>): Promise<void> {
  const pool = poolOf(outputs);
  const ClientId = outputs['SmokeClientId'];
  const run = randomBytes(6).toString('hex');
  const made: string[] = [];
  const token = async (role: Role): Promise<string> => {
    // A name that no message can be sent to.
    const Username = `smoke-${role}-${run}@example.invalid`;
    const Password = `${randomBytes(18).toString('base64url')}aA1!`;
    await cognito.send(new AdminCreateUserCommand({ ...pool, Username, MessageAction: 'SUPPRESS' }));
    made.push(Username);
    await cognito.send(new AdminSetUserPasswordCommand({ ...pool, Username, Password, Permanent: true }));
    if (role === 'operator') await cognito.send(new AdminAddUserToGroupCommand({ ...pool, Username, GroupName: OPERATOR_GROUP }));
    const AuthParameters = { USERNAME: Username, PASSWORD: Password };
    const { AuthenticationResult } = await cognito.send(new AdminInitiateAuthCommand({ ...pool, ClientId, AuthFlow: 'ADMIN_USER_PASSWORD_AUTH', AuthParameters }));
    if (AuthenticationResult?.IdToken === undefined) throw new Error('Cognito returned no token');
    return AuthenticationResult.IdToken;
  };
  try {
    await work(token);
  } finally {
    for (const Username of made) await cognito.send(new AdminDeleteUserCommand({ ...pool, Username }));
  }
}
