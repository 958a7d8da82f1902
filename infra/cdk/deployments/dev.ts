import type { Deployment } from '../lib/deployment.ts';

/** `make deploy ENV=dev`: cheap, may be destroyed at any time, signs people in with a Cognito user pool of its own. */
export default {
  profile: 'dev',
  region: 'us-east-1',
} satisfies Deployment;
