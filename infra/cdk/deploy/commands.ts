// The commands behind `./flash deploy` and its relatives. main.ts runs them.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { DescribeSecretCommand, GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { deploymentNamed, settingsOf } from '../lib/deployment.ts';
import { needsEdgeStack } from '../lib/edge-stack.ts';
import { UsageError } from '../lib/settings.ts';
import { deploy, ensureBootstrap, type Programs } from './deploy.ts';
import { destroy } from './destroy.ts';
import { nextKeyStep, sentKey } from './edge-key.ts';
import { ROOT } from './paths.ts';
import { makeOperator, withUsers } from './people.ts';
import { type Preflight, preflight } from './preflight.ts';
import { deployedTemplate, type Template } from './removals.ts';
import { pay, smoke } from './smoke.ts';
import { agreed, archives, bootstrap, build, BUILT, cdk, planned, requireTools, say, tokenFrom } from './steps.ts';
import { outputsOf, pushUrlOf, target, type Target, urlOf, urlThatAnswers } from './target.ts';

/** What the commands take besides a name. */
export type Flags = { yes?: boolean } & Partial<Record<'email' | 'id' | 'price-minor' | 'currency', string>>;

const outOf = ({ name }: Target): string => join(ROOT, 'target/cdk', name);

/** CDK's template check does not apply to the emulator, and tests run it. */
const isAws = ({ settings }: Target): boolean => settings.emulator === undefined;

const programs = ({ yes }: Flags): Programs => ({
  requireTools,
  bootstrap,
  build,
  synth: (on, occasion) => {
    const env = isAws(on) ? {} : { CDK_VALIDATION: 'false' };
    cdk('synth', on.name, on.aws.region, ['--quiet', '--output', outOf(on)], occasion, env);
    return JSON.parse(readFileSync(join(outOf(on), 'FlashSale.template.json'), 'utf8')) as Template;
  },
  deploy: (on, occasion) => {
    const args = ['--require-approval', 'never', '--progress', 'events', '--ci', ...(isAws(on) ? [] : ['--method=direct'])];
    cdk('deploy', on.name, on.aws.region, ['--all', '--app', outOf(on), ...args], occasion);
  },
  agreed: (word) => agreed(word, yes),
  say,
  tellUrls,
  smoke: runSmoke,
});

/** The key that callbacks are to be signed with: the first of the secret's. */
async function paymentKeyOf({ aws }: Target, outputs: Record<string, string>): Promise<string> {
  const { SecretString = '' } = await aws.secrets.send(new GetSecretValueCommand({ SecretId: outputs['PaymentSecretArn'] }));
  return SecretString.trim().split(/\s*\n/)[0]!;
}

async function runSmoke(on: Target): Promise<void> {
  const { aws, deployment, settings } = on;
  const outputs = await outputsOf(on);
  const paymentKey = (): Promise<string> => paymentKeyOf(on, outputs);
  const load = async (): Promise<void> => {
    await aws.lambda.send(new InvokeCommand({ FunctionName: outputs['WarmupFunctionName'], Payload: new TextEncoder().encode('{}') }));
  };
  const url = await urlThatAnswers(on, outputs, say);
  const buys = (token: (role: 'buyer' | 'operator') => Promise<string>) => smoke({ url, token, paymentKey, load, say: (line) => say(`  ${line}`) });
  if (settings.parked) return say('Not tested: the deployment is parked, and sells nothing.');
  say('Smoke test: one purchase');
  if (outputs['SmokeClientId'] !== undefined) return withUsers(aws, outputs, buys);
  const command = deployment.smoke?.tokenCommand;
  if (command === undefined) {
    return say(`  skipped: nobody can sign in. Set smoke: { tokenCommand: '… {user} {role}' } in deployments/${on.name}.ts, which must print a token of your issuer.`);
  }
  const run = Date.now().toString(36);
  await buys(async (role) => tokenFrom(command, `smoke-${role}-${run}`, role));
}

async function tellUrls(on: Target): Promise<void> {
  const outputs = await outputsOf(on);
  const edge = outputs['EdgeUrl'];
  console.log(edge === undefined ? `API        ${urlOf(on, outputs)}` : `shop       ${edge}/\noperators  ${edge}/operators.html\nAPI        ${edge}/v1`);
  if (edge !== undefined) console.log(`payments   ${edge}/v1/payments/webhook, for the payment provider; its key is in ${outputs['PaymentSecretArn']}`);
  const name = outputs['EdgeCloudFrontName'];
  const { domain } = on.settings.edge ?? {};
  if (domain !== undefined && domain.zone === undefined) console.log(`DNS        ${domain.name} CNAME ${name}, a record that you have to create`);
  console.log(`push       ${pushUrlOf(on, outputs)}`);
  if (outputs['UserPoolId'] !== undefined) console.log(`An operator: ./flash operator ${on.name} --email you@example.com`);
  if (edge !== undefined && on.deployment.issuer !== undefined) {
    console.log(`Redirect URIs at ${on.deployment.issuer}: ${edge}/ and ${edge}/operators.html`);
  }
}

async function rotateEdgeKey(name: string | undefined): Promise<void> {
  const on = await target(name);
  const outputs = await outputsOf(on);
  const SecretId = outputs['EdgeKeySecretArn'];
  const deployed = await deployedTemplate(on.aws, on.settings.name);
  const sent = deployed && sentKey(deployed);
  if (SecretId === undefined || sent === undefined) throw new UsageError('This deployment has no edge with a key: deploy it first.');
  const { SecretString = '{}' } = await on.aws.secrets.send(new GetSecretValueCommand({ SecretId }));
  const { LastChangedDate } = await on.aws.secrets.send(new DescribeSecretCommand({ SecretId }));
  const about = { keys: JSON.parse(SecretString), sent, changedAt: LastChangedDate?.getTime() ?? 0, file: `deployments/${on.name}.ts` };
  const step = nextKeyStep(about, () => randomBytes(24).toString('hex'));
  if (step.put !== undefined) await on.aws.secrets.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(step.put) }));
  console.log(step.say);
}

async function payFor(name: string | undefined, { id = '', 'price-minor': minor = '', currency = 'EUR' }: Flags): Promise<void> {
  if (id === '' || minor === '') {
    throw new UsageError('Which reservation, and how much? ./flash pay ENV --id lamp.1.… --price-minor 990 --currency EUR');
  }
  const price = Number(minor);
  if (!/^\d+$/.test(minor) || !Number.isSafeInteger(price)) {
    throw new UsageError(`--price-minor: a whole number of minor units, such as 990 for 9.90; got "${minor}"`);
  }
  const on = await target(name);
  const outputs = await outputsOf(on);
  await pay({ url: urlOf(on, outputs), key: await paymentKeyOf(on, outputs), id, price_minor: price, currency });
  console.log(`${id} is paid`);
}

async function template(name: string | undefined): Promise<void> {
  // Without an account: a template only says at deployment where it is deployed.
  const deployment = await deploymentNamed(name);
  const settings = settingsOf(name!, deployment);
  if (!existsSync(BUILT)) build();
  const out = join(ROOT, 'target/template', name!);
  cdk('synth', name!, deployment.region, ['--quiet', '--output', out]);
  archives(join(out, 'functions'));
  const stacks = settings.edge !== undefined && needsEdgeStack(settings.edge) ? ['FlashSaleEdge', 'FlashSale'] : ['FlashSale'];
  for (const stack of stacks) console.log(join(out, `${stack}.template.json`));
  console.log(join(out, 'functions'));
}

const COMMANDS: Record<string, (name: string | undefined, flags: Flags) => Promise<void>> = {
  deploy: async (name, flags) => deploy(await target(name), programs(flags)),
  destroy: async (name, flags) => destroy(await target(name), programs(flags)),
  template,
  pay: payFor,
  'build-aws': async () => build(),
  smoke: async (name) => runSmoke(await target(name)),
  'rotate-edge-key': rotateEdgeKey,
  bootstrap: async (name) => ensureBootstrap(await target(name), { bootstrap, say }),
  preflight: async (name) => {
    const on = await target(name);
    if (!isAws(on)) return console.log('The emulator needs no preflight: it has no quotas, certificates or alarms to check.');
    const deployed = await deployedTemplate(on.aws, on.settings.name);
    const plan: Preflight['plan'] = (sale, quotas) => planned(on.deployment.region, sale, quotas);
    const findings = await preflight({ ...on, deployed, outputs: await outputsOf(on), plan });
    const marks = { good: '✓', wrong: '✗', wait: '…' } as const;
    for (const { check, is, says, fix } of findings) console.log(`${marks[is]} ${check}: ${says}${fix === undefined ? '' : `\n    ${fix}`}`);
    const wrong = findings.filter(({ is }) => is === 'wrong').length;
    if (wrong > 0) throw new UsageError(`${wrong} of ${findings.length} checks failed: below each is the command that fixes it.`);
  },
  operator: async (name, { email }) => {
    if (email === undefined || !/^\S+@\S+$/.test(email)) throw new UsageError('Who? ./flash operator dev --email you@example.com');
    const on = await target(name);
    console.log(await makeOperator(on.aws, await outputsOf(on), email));
  },
};

/** Runs a command on the deployment with this name. */
export async function run(command: string, name: string | undefined, flags: Flags): Promise<void> {
  const work = COMMANDS[command];
  if (work === undefined) throw new UsageError(`Which command? ${Object.keys(COMMANDS).join(', ')}; got "${command}"`);
  await work(name === '' ? undefined : name, flags);
}
