import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import dev from '../deployments/dev.ts';
import example from '../deployments/example.ts';
import { checked, type Deployment, deploymentNamed, settingsOf } from '../lib/deployment.ts';
import { workplace } from './stack.ts';

test('the files in the repository are valid', async () => {
  expect(readdirSync(new URL('../deployments', import.meta.url)).sort()).toEqual(expect.arrayContaining(['dev.ts', 'example.ts']));
  expect(await deploymentNamed('dev')).toEqual(dev);
  for (const [name, deployment] of Object.entries({ dev, example })) {
    expect(() => settingsOf(name, checked(name, deployment))).not.toThrow();
  }
});

test('a deployment has its owner\'s decisions, and defaults from its profile', () => {
  const settings = settingsOf('prod', { ...(example as Deployment), shards: 4, edgeKey: 'key2', letPast: true, edgeLine: false, giftUrl: 'https://g.example' });
  expect(settings).toMatchObject({
    name: 'flash-sale',
    keepData: true,
    issuer: 'https://id.example.com',
    audience: ['shop'],
    alarmEmail: 'on-call@example.com',
    redis: { shards: 4, replicas: 1 },
    giftUrl: 'https://g.example',
    winnersPerSecond: 100,
    webhookUrl: 'https://shop.example.com/events',
    provisioned: [{ count: 200 }],
    edge: { key: 'key2', letPast: true, line: false, requestsPer5MinutesPerIp: 20_000, domain: { name: 'sale.example.com' } },
  });
});

test('a first deployment protects nothing yet: if it fails, it must remove what it made', () => {
  expect(settingsOf('prod', example, { first: true })).toMatchObject({ keepData: true, first: true });
});

describe('errors in a file use its own field names, and say what to do', () => {
  const CASES: [string, unknown, RegExp][] = [
    ['nothing', undefined, /deployments\/x\.ts is invalid.*export default/s],
    ['a list', [], /export default/],
    ['no region', { profile: 'dev' }, /region: is missing; it is a region, as eu-central-1/],
    ['no profile', { region: 'us-east-1' }, /profile: is missing; it is one of dev, prod, parked, local/],
    ['another profile', { ...dev, profile: 'staging' }, /profile: one of dev, prod, parked, local; got "staging"/],
    ['a profile that every object has', { ...dev, profile: 'constructor' }, /profile: one of/],
    ['an invalid region', { ...dev, region: 'Frankfurt' }, /region: .*got "Frankfurt"/],
    ['an account as a number', { ...dev, account: 123456789012 }, /account: a string of twelve digits; got 123456789012/],
    ['a mistyped field', { ...dev, alarmemail: 'a@b.example' }, /alarmemail: there is no such field; did you mean alarmEmail\?/],
    ['an emulator in another profile', { ...dev, emulator: 'http://127.0.0.1:4566' }, /emulator: only in the profile local/],
    ['an unknown field', { ...dev, colour: 'red' }, /colour: there is no such field$/m],
    ['a field that every object has', { ...dev, constructor: 'red' }, /constructor: there is no such field$/m],
    ['an audience that is not a list', { ...example, audience: 'shop' }, /audience: a list of texts; got "shop"/],
    ['half a shard', { ...example, shards: 1.5 }, /shards: a whole number above 0; got 1\.5/],
    ['a sale without an opening time', { ...dev, sales: [{ units: 1, audience: 1 }] }, /sales: a list of \{ units, audience, opensAt \}/],
    ['nobody who hears the alarms', { ...example, alarmEmail: undefined }, /alarmEmail: required for production alarms/],
    ['no payment page', { ...example, payUrl: undefined }, /- payUrl: where buyers pay/],
    ['no issuer in prod', { ...example, issuer: undefined }, /- issuer: give the OIDC issuer/],
    ['no audience', { ...example, audience: [] }, /- audience: give at least one/],
    ['an audience without an issuer', { ...dev, audience: ['shop'] }, /- issuer: give/],
    ['gifts over HTTP', { ...example, giftUrl: 'http://g.example' }, /- giftUrl: an https URL/],
    ['a domain without a zone or certificate', { ...example, domain: { name: 'sale.example.com' } }, /- domain: give its `zone`/],
    ['an emulator without an address', { profile: 'local', region: 'us-east-1', issuer: 'http://a', audience: ['b'] }, /emulator: give its address/],
    ['an unknown way to release', { ...example, releases: 'blue-green' }, /releases: one of canary, at-once; got "blue-green"/],
    ['a canary without alarms', { ...dev, releases: 'canary' }, /releases: this profile lacks the alarms/],
    ['a canary in a parked deployment', { ...example, profile: 'parked', provisioned: [], releases: 'canary' }, /releases: a parked deployment has no requests to judge a canary by/],
    ['an edge that is a string', { ...dev, edge: 'no' }, /edge: true or false; got "no"/],
    ['an opening in a parked deployment', { ...example, profile: 'parked' }, /provisioned: .*parked/],
  ];

  test.each(CASES)('%s', (_, exported, message) => {
    expect(() => settingsOf('x', checked('x', exported))).toThrow(message);
  });

  test('all at once', () => {
    expect(() => checked('x', { profile: 'x', colour: 1 })).toThrow(/profile: .*\n.*colour: .*\n.*region: is missing/);
  });
});

describe('a deployment is found by its name', () => {
  const folder = mkdtempSync(join(workplace, 'deployments-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'shop.ts'), "export default { profile: 'dev', region: 'eu-west-1' };\n");
  writeFileSync(join(folder, 'example.ts'), 'export default {};\n');

  test('in its file', async () => expect(await deploymentNamed('shop', folder)).toEqual({ profile: 'dev', region: 'eu-west-1' }));

  test.each([undefined, '', '../shop', 'Shop'])('%s is not a deployment, and the existing ones are listed', async (name) => {
    await expect(deploymentNamed(name, folder)).rejects.toThrow(/Which deployment\? One of .*shop.*; got/);
  });

  test('the template is there to be copied', async () => {
    await expect(deploymentNamed('example', folder)).rejects.toThrow(/example\.ts is a template\. Copy the template.*cp .*example\.ts/s);
  });

  test('the emulator\'s is nowhere unless it runs and its settings are loaded', async () => {
    writeFileSync(join(folder, 'nowhere.ts'), "export default { profile: 'local', region: 'us-east-1', issuer: 'undefined/identity', audience: ['a'] };\n");
    const running = join(folder, 'up.env');
    await expect(deploymentNamed('nowhere', folder, running)).rejects.toThrow(/^No system is running: start one with `make up`, then load its settings/);
    writeFileSync(running, '');
    await expect(deploymentNamed('nowhere', folder, running)).rejects.toThrow(/^To reach the running system, load its settings with `\. target\/local\/up\.env`$/);
  });

  test('a missing one says how to make it', async () => {
    await expect(deploymentNamed('prod', folder)).rejects.toThrow(/no infra\/cdk\/deployments\/prod\.ts.*cp .*example\.ts/s);
  });
});
