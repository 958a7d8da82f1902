import type { Deployment } from '../lib/deployment.ts';

/** `./flash deploy dev`: cheap, may be destroyed at any time, signs users in with its own Cognito user pool. */
export default {
  profile: 'dev',
  region: 'us-east-1',
} satisfies Deployment;
