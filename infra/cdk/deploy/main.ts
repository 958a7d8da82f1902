// What `make deploy` and its relatives run: main.ts COMMAND ENV
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DeleteStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { DescribeSecretCommand, GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { type Deployment, settingsOf } from '../lib/deployment.ts';
import { deploymentNamed } from '../lib/deployments.ts';
import { EDGE_REGION, needsEdgeStack } from '../lib/edge-stack.ts';
import { type Settings, UsageError } from '../lib/settings.ts';
import { accountOf, type Aws, awsIn } from './aws.ts';
import { nextKeyStep, sentKey } from './edge-key.ts';
import { issuerProblem } from './issuer.ts';
import { makeOperator, withUsers } from './people.ts';
import { bootstrapped, bootstrapVersion, type Finding, preflight, qualifierOf } from './preflight.ts';
import { deployedTemplate, removals, stoppedByHand, type Template } from './removals.ts';
import { pay, smoke } from './smoke.ts';
import { agreed, APP, archives, bootstrap, build, BUILT, cdk, planned, ROOT, say, tokenFrom } from './steps.ts';

interface Target {
  name: string;
  deployment: Deployment;
  settings: Settings;
  aws: Aws;
  edgeAws: Aws;
  account: string;
}

/** Reads the deployment's file, and looks who is there. Before anything that takes long. */
async function target(name: string | undefined): Promise<Target> {
  const deployment = await deploymentNamed(name);
  const settings = settingsOf(name!, deployment);
  say(`${name}: profile ${deployment.profile} in ${deployment.region}, stack ${settings.name}`);
  const aws = awsIn(deployment.region);
  const account = await accountOf(aws);
  if (deployment.account !== undefined && deployment.account !== account) {
    throw new UsageError(`These credentials are of the account ${account}, and ${name} belongs to ${deployment.account}: export AWS_PROFILE=…, of the other account.`);
  }
  say(`account ${account}`);
  return { name: name!, deployment, settings, aws, edgeAws: awsIn(EDGE_REGION), account };
}

async function outputsOf({ aws, settings: { name } }: Target): Promise<Record<string, string>> {
  try {
    const { Stacks } = await aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
    return Object.fromEntries((Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!]));
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return {};
    throw error;
  }
}

/** The emulator knows an API by its path. */
function urlOf({ settings: { emulator } }: Target, outputs: Record<string, string>): string {
  const url = outputs['EdgeUrl'] ?? outputs['ApiUrl'];
  if (url === undefined) throw new UsageError('The stack has no address yet: `make deploy` first.');
  return emulator === undefined ? url : `${emulator}/_aws/execute-api/${url.split('//')[1]?.split('.')[0]}`;
}

async function runPreflight(on: Target): Promise<Finding[]> {
  const deployed = await deployedTemplate(on.aws, on.settings.name);
  const outputs = await outputsOf(on);
  const findings = await preflight({ ...on, deployed, outputs, plan: (sale, quotas) => planned(on.deployment.region, sale, quotas) });
  const marks = { good: '✓', wrong: '✗', wait: '…' } as const;
  for (const { check, is, says, fix } of findings) {
    console.log(`${marks[is]} ${check}: ${says}`);
    if (fix !== undefined) console.log(`    ${fix}`);
  }
  return findings;
}

async function checkedIssuer({ settings: { identity }, name }: Target): Promise<void> {
  if (identity.kind !== 'oidc') return;
  const problem = await issuerProblem(identity.issuer);
  if (problem !== undefined) throw new UsageError(`The issuer of ${name} cannot be used: ${problem}.`);
}

async function ensureBootstrap(on: Target): Promise<void> {
  const qualifier = qualifierOf(on.settings);
  const missing: string[] = [];
  for (const aws of bootstrapped(on)) if ((await bootstrapVersion(aws, qualifier)) === undefined) missing.push(aws.region);
  if (missing.length === 0) return;
  say(`Bootstrapping ${missing.join(' and ')}: the bucket and the roles that CDK deploys with`);
  bootstrap(on.account, missing, on.deployment.qualifier);
}

async function deploy(name: string | undefined): Promise<void> {
  const on = await target(name);
  const { settings, aws } = on;
  const isAws = settings.emulator === undefined;
  const deployed = await deployedTemplate(aws, settings.name);
  if (isAws) {
    await checkedIssuer(on);
    await ensureBootstrap(on);
    build();
  }
  const first = deployed === undefined || (await wasNeverMade(on));
  say('Synthesizing');
  // Tests check the templates on the emulator, and there is nothing to check them against.
  if (!isAws) process.env['CDK_VALIDATION'] = 'false';
  const context: Record<string, string> = first ? { first: 'true' } : {};
  cdk('synth', on.name, aws.region, ['--quiet', '--output', outOf(on)], context);
  if (deployed !== undefined && !first) await askFor(removals(deployed, templateIn(outOf(on)), await stoppedByHand(aws, deployed)));
  say('Deploying');
  const args = ['--require-approval', 'never', '--progress', 'events', '--ci', ...(isAws ? [] : ['--method=direct'])];
  cdkDeploy(on, args, context);
  // A deployment that fails at first takes all away that it has made; what is there now is protected.
  if (first && settings.protectData) {
    say('Protecting the table');
    cdk('synth', on.name, aws.region, ['--quiet', '--output', outOf(on)]);
    cdkDeploy(on, args, {});
  }
  await runSmoke(on);
  await tellUrls(on);
}

/** A first deployment that failed leaves an empty stack, in whose place CDK makes another one. */
async function wasNeverMade({ aws, settings: { name } }: Target): Promise<boolean> {
  const { Stacks } = await aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
  return ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE'].includes(Stacks?.[0]?.StackStatus ?? '');
}

const outOf = ({ name }: Target): string => join(ROOT, 'target/cdk', name);

function templateIn(folder: string): Template {
  return JSON.parse(readFileSync(join(folder, 'FlashSale.template.json'), 'utf8'));
}

/** Deploys what was synthesized, and looked at. */
function cdkDeploy(on: Target, args: string[], context: Record<string, string>): void {
  cdk('deploy', on.name, on.aws.region, ['--all', '--app', outOf(on), ...args], context);
}

async function askFor(gone: string[]): Promise<void> {
  if (gone.length === 0) return;
  say(`This deployment would take away:\n${gone.map((each) => `  - ${each}`).join('\n')}`);
  if (!(await agreed('take it away'))) throw new UsageError('Nothing was deployed.');
}

async function runSmoke(on: Target): Promise<void> {
  const { aws, deployment, settings } = on;
  const outputs = await outputsOf(on);
  const secret = outputs['PaymentSecretArn'];
  const paymentKey = async (): Promise<string> => (await aws.secrets.send(new GetSecretValueCommand({ SecretId: secret }))).SecretString!;
  const load = async (): Promise<void> => {
    await aws.lambda.send(new InvokeCommand({ FunctionName: outputs['WarmupFunctionName'], Payload: new TextEncoder().encode('{}') }));
  };
  const buys = (token: (role: 'buyer' | 'operator') => Promise<string>) =>
    smoke({ url: urlOf(on, outputs), token, paymentKey, load, say: (line) => say(`  ${line}`) });
  if (settings.parked) return say('Not tested: it is parked, and nothing is sold.');
  say('Smoke test: one purchase');
  if (outputs['SmokeClientId'] !== undefined) return withUsers(aws, outputs, buys);
  const command = deployment.smoke?.tokenCommand;
  if (command === undefined) {
    return say(`  skipped: nobody can sign in. Give smoke: { tokenCommand: '… {user} {role}' } in deployments/${on.name}.ts, which prints a token of your issuer.`);
  }
  const run = Date.now().toString(36);
  await buys(async (role) => tokenFrom(command, `smoke-${role}-${run}`, role));
}

async function tellUrls(on: Target): Promise<void> {
  const outputs = await outputsOf(on);
  const { EdgeUrl: edge, PushUrl: push } = outputs;
  console.log(edge === undefined ? `API        ${urlOf(on, outputs)}` : `shop       ${edge}/\noperators  ${edge}/operators.html\nAPI        ${edge}/v1`);
  if (edge !== undefined) console.log(`payments   ${edge}/v1/payments/webhook, for the payment provider, with the key in ${outputs['PaymentSecretArn']}`);
  console.log(`push       ${push}`);
  if (outputs['UserPoolId'] !== undefined) console.log(`An operator: make operator ENV=${on.name} EMAIL=you@example.com`);
  if (edge !== undefined && on.deployment.issuer !== undefined) {
    console.log(`Redirect URIs at ${on.deployment.issuer}: ${edge}/ and ${edge}/operators.html`);
  }
}

async function destroy(name: string | undefined): Promise<void> {
  const on = await target(name);
  const { settings, aws, edgeAws } = on;
  const deployed = await deployedTemplate(aws, settings.name);
  if (deployed === undefined) return say(`There is no stack ${settings.name}.`);
  const { StackResources = [] } = await aws.cloudFormation.send(new DescribeStackResourcesCommand({ StackName: settings.name }));
  const remains = StackResources.filter(({ LogicalResourceId: id }) => /^Retain/.test(deployed.Resources[id ?? '']?.DeletionPolicy ?? ''));
  say(`The stack ${settings.name} goes, with everything in it${remains.length === 0 ? '.' : ' but what is below.'}`);
  const left = [
    ...remains.map(({ ResourceType: type, PhysicalResourceId: id }) => `${type} ${id}${removal(type, id, aws.region)}`),
    `what \`cdk bootstrap\` made, for other stacks of the account${on.deployment.qualifier === undefined ? ' (CDKToolkit)' : ` (CDKToolkit-${on.deployment.qualifier})`}`,
  ];
  const list = `What remains:\n${left.map((each) => `  - ${each}`).join('\n')}`;
  say(list);
  if (!(await agreed(settings.name))) throw new UsageError('Nothing was destroyed.');
  await remove(aws, settings.name);
  if (settings.edge !== undefined && needsEdgeStack(settings.edge)) await remove(edgeAws, `${settings.name}-edge`);
  console.log(list);
}

/** The command that removes what a stack leaves behind. */
function removal(type: string | undefined, id: string | undefined, region: string): string {
  switch (type) {
    case 'AWS::DynamoDB::Table':
      return `\n      aws dynamodb update-table --no-deletion-protection-enabled --table-name ${id} --region ${region}\n      aws dynamodb delete-table --table-name ${id} --region ${region}`;
    case 'AWS::SecretsManager::Secret':
      return `\n      aws secretsmanager delete-secret --secret-id ${id} --region ${region}`;
    case 'AWS::Cognito::UserPool':
      return `\n      aws cognito-idp delete-user-pool --user-pool-id ${id} --region ${region}`;
    default:
      return ' (of the account: other APIs log by it)';
  }
}

async function remove({ cloudFormation }: Aws, StackName: string): Promise<void> {
  say(`Deleting ${StackName}`);
  await cloudFormation.send(new DeleteStackCommand({ StackName }));
  const { state, reason } = await waitUntilStackDeleteComplete({ client: cloudFormation, maxWaitTime: 3_600 }, { StackName });
  if (state !== 'SUCCESS') throw new UsageError(`${StackName} is not deleted: ${JSON.stringify(reason)}`);
}

async function rotateEdgeKey(name: string | undefined): Promise<void> {
  const on = await target(name);
  const outputs = await outputsOf(on);
  const SecretId = outputs['EdgeKeySecretArn'];
  const deployed = await deployedTemplate(on.aws, on.settings.name);
  const sent = deployed && sentKey(deployed);
  if (SecretId === undefined || sent === undefined) throw new UsageError('This deployment has no edge with a key, or one of the version before: deploy it first.');
  const { SecretString = '{}' } = await on.aws.secrets.send(new GetSecretValueCommand({ SecretId }));
  const { LastChangedDate } = await on.aws.secrets.send(new DescribeSecretCommand({ SecretId }));
  const about = { keys: JSON.parse(SecretString), sent, changedAt: LastChangedDate?.getTime() ?? 0, file: `deployments/${on.name}.ts` };
  const step = nextKeyStep(about, () => randomBytes(24).toString('hex'));
  if (step.put !== undefined) await on.aws.secrets.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(step.put) }));
  console.log(step.say);
}

async function payFor(name: string | undefined): Promise<void> {
  const id = process.env['ID'];
  const [price, currency] = [Number(process.env['PRICE_MINOR']), process.env['CURRENCY'] ?? 'EUR'];
  if (id === undefined || !Number.isInteger(price) || price < 0) {
    throw new UsageError('Which reservation, and how much? make pay ENV=… ID=lamp.1.… PRICE_MINOR=990 CURRENCY=EUR');
  }
  const on = await target(name);
  const outputs = await outputsOf(on);
  const { SecretString } = await on.aws.secrets.send(new GetSecretValueCommand({ SecretId: outputs['PaymentSecretArn'] }));
  await pay({ url: urlOf(on, outputs), key: SecretString!, id, price_minor: price, currency });
  console.log(`${id} is paid`);
}

async function template(name: string | undefined): Promise<void> {
  // Without an account: a template says where it is deployed when it is.
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

const COMMANDS: Record<string, (name: string | undefined) => Promise<void>> = {
  deploy,
  destroy,
  template,
  pay: payFor,
  'build-aws': async () => build(),
  smoke: async (name) => runSmoke(await target(name)),
  'rotate-edge-key': rotateEdgeKey,
  bootstrap: async (name) => ensureBootstrap(await target(name)),
  preflight: async (name) => {
    const on = await target(name);
    if (on.settings.emulator !== undefined) throw new UsageError('The emulator has no quotas, and nothing else to look at before.');
    const findings = await runPreflight(on);
    const wrong = findings.filter(({ is }) => is === 'wrong').length;
    if (wrong > 0) throw new UsageError(`${wrong} of ${findings.length} checks failed: each has the command that mends it below it.`);
  },
  operator: async (name) => {
    const email = process.env['EMAIL'];
    if (email === undefined || !/^\S+@\S+$/.test(email)) throw new UsageError('Who? make operator ENV=dev EMAIL=you@example.com');
    const on = await target(name);
    const outputs = await outputsOf(on);
    console.log(await makeOperator(on.aws, outputs, email));
  },
};

const [command = '', name] = process.argv.slice(2);
const work = COMMANDS[command];
try {
  if (work === undefined) throw new UsageError(`Which command? ${Object.keys(COMMANDS).join(', ')}; got "${command}"`);
  process.chdir(APP);
  await work(name === '' ? undefined : name);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
