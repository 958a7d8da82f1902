import type { Deployment } from '../lib/deployment.ts';

const endpoint = process.env['AWS_ENDPOINT_URL'];

/**
 * A second stack on the emulator that `make up` has started, deployed in the same steps as on AWS:
 * `. target/local/up.env && ./flash deploy emulator`.
 */
export default {
  profile: 'local',
  region: 'us-east-1',
  name: 'flash-sale-two',
  emulator: endpoint,
  issuer: `${endpoint}/identity`,
  audience: ['flash-sale'],
  smoke: { tokenCommand: 'node --import ./typescript.js deploy/stand-in-token.ts {user} {role}' },
} satisfies Deployment;
