import type { Settings } from '../lib/settings.ts';
import { common, SMALL_NODE } from './common.ts';

/** The emulator on this machine. Issuer, audience and the emulator's address come from the command line. */
export const local: Settings = {
  ...common,
  name: 'flash-sale',
  architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
  logRetentionDays: 1,
  throttle: {
    // More than any machine can handle, so that measurements never hit it.
    requestsPerSecond: 100_000,
    burst: 100_000,
    challenges: { requestsPerSecond: 4_000, burst: 4_000 },
    tokens: { requestsPerSecond: 4_000, burst: 4_000 },
    tickets: { requestsPerSecond: 4_000, burst: 4_000 },
  },
  issuer: '',
  // The emulator returns the address of the Valkey that it was started with.
  redis: SMALL_NODE,
  network: 'endpoints',
  observability: 'full',
  signingSecrets: 'each',
  emulator: '',
};
