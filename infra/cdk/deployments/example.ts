import type { Deployment } from '../lib/deployment.ts';

/**
 * A shop. Copy it to `deployments/prod.ts`, put in your own values, commit it, and run `./flash preflight prod` and `./flash deploy
 * prod`. `lib/deployment.ts` and `lib/settings.ts` explain the fields; remove those that you do not need.
 */
export default {
  profile: 'prod',
  region: 'eu-central-1',
  account: '123456789012',
  issuer: 'https://id.example.com',
  audience: ['shop'],
  payUrl: 'https://pay.example.com/',
  contactUrl: 'mailto:help@example.com',
  webhookUrl: 'https://shop.example.com/events',
  alarmEmail: 'on-call@example.com',
  domain: { name: 'sale.example.com', zone: { id: 'Z0123456789ABC', name: 'example.com' } },
  // Remove a window when it is over: AWS refuses a time in the past.
  provisioned: [{ from: '2099-12-01T17:45:00Z', to: '2099-12-01T18:30:00Z', count: 200 }],
  sales: [{ units: 10_000, audience: 20_000, opensAt: '2099-12-01T19:00:00+01:00' }],
  smoke: { tokenCommand: './smoke-token {user} {role}' },
} satisfies Deployment;
