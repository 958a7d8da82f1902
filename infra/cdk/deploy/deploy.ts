import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import type { Occasion } from '../lib/deployment.ts';
import { needsEdgeStack } from '../lib/edge-stack.ts';
import { UsageError } from '../lib/settings.ts';
import type { Aws } from './aws.ts';
import { bootstrapped, hindrances, needsBootstrap, qualifierOf } from './preflight.ts';
import { changesRedis, deployedTemplate, removals, stoppedByHand, type Template } from './removals.ts';
import { outputsOf, type Target } from './target.ts';

/** What a deployment needs besides AWS: the programs that it runs, and the person it asks. */
export interface Programs {
  requireTools: () => void;
  bootstrap: (account: string, regions: string[], qualifier: string | undefined) => void;
  build: () => void;
  /** Synthesizes, and returns the main stack's template. */
  synth: (on: Target, occasion: Occasion) => Template;
  /** Deploys what was synthesized. */
  deploy: (on: Target, occasion: Occasion) => void;
  /** Whether a person confirms by typing this word. */
  agreed: (word: string) => Promise<boolean>;
  say: (line: string) => void;
  tellUrls: (on: Target) => Promise<void>;
  smoke: (on: Target) => Promise<void>;
  fetch?: typeof fetch;
  now?: () => number;
}

/** Deploys, from checking the account to a test purchase. Problems are reported before anything that takes long. */
export async function deploy(on: Target, run: Programs): Promise<void> {
  const { settings, aws } = on;
  const deployed = await deployedTemplate(aws, settings.name);
  const first = deployed === undefined || (await wasNeverMade(on));
  if (settings.emulator === undefined) {
    await lookBefore(on, deployed, run);
    if (deployed === undefined && settings.keepData) await askForANewShop(on, run);
    await ensureBootstrap(on, run);
    run.build();
  }
  run.say('Synthesizing');
  const occasion: Occasion = first ? { first } : {};
  const coming = run.synth(on, occasion);
  if (deployed !== undefined && !first) {
    if (changesRedis(deployed, coming) && settings.releases === 'canary') {
      // With both versions running, a tenth of the buyers would buy from another stock for five minutes.
      occasion.releases = 'at-once';
      run.synth(on, occasion);
    }
    await askFor(await gone(on, deployed, coming, run), run);
  }
  run.say('Deploying');
  try {
    run.deploy(on, occasion);
  } catch (error) {
    throw first && error instanceof UsageError ? new UsageError(`${error.message}\n${afterAFirstFailure(on)}`) : error;
  }
  // A first deployment that fails deletes everything it has created; what exists now is protected.
  if (first && settings.keepData) {
    run.say('Protecting the table');
    run.synth(on, {});
    run.deploy(on, {});
  }
  await run.tellUrls(on);
  await run.smoke(on);
}

async function lookBefore(on: Target, deployed: Template | undefined, run: Programs): Promise<void> {
  run.requireTools();
  const outputs = await outputsOf(on);
  const found = await hindrances({ ...on, deployed, outputs, ...(run.fetch && { fetch: run.fetch }), ...(run.now && { now: run.now() }) });
  for (const { check, says } of found.filter(({ stops }) => !stops)) run.say(`${check}: ${says}`);
  const stops = found.filter((each) => each.stops);
  if (stops.length > 0) {
    throw new UsageError(['Cannot deploy:', ...stops.flatMap(({ check, says, fix }) => [`  - ${check}: ${says}`, `    ${fix}`])].join('\n'));
  }
  const warmup = outputs['WarmupFunctionName'];
  if (!on.settings.parked || warmup === undefined) return;
  const { soon, later } = await roundsAhead(on.aws, warmup);
  if (soon > 0) {
    throw new UsageError(`${soon} round${soon === 1 ? ' is' : 's are'} open, or open${soon === 1 ? 's' : ''} within ten minutes: nothing can be sold while ${on.name} is parked. Close open rounds first, or deploy with profile: 'prod'.`);
  }
  if (later > 0) run.say(`${later} published round${later === 1 ? ' opens' : 's open'} later: deploy with profile: 'prod' an hour before.`);
}

/** A changed name or region in the file means another stack, beside the running shop. */
async function askForANewShop({ name, settings, aws, account }: Target, run: Programs): Promise<void> {
  run.say(`There is no stack ${settings.name} in ${aws.region} of ${account}: this creates a new shop with its own table. If ${name} is already running, its name or region in deployments/${name}.ts has changed.`);
  if (!(await run.agreed(settings.name))) throw new UsageError('Nothing was deployed.');
}

/** Bootstraps the account if nobody has, or if its version is too old. */
export async function ensureBootstrap(on: Target, run: Pick<Programs, 'bootstrap' | 'say'>): Promise<void> {
  const qualifier = qualifierOf(on.settings);
  const regions: string[] = [];
  for (const aws of bootstrapped(on)) if (await needsBootstrap(aws, qualifier)) regions.push(aws.region);
  if (regions.length === 0) return;
  run.say(`Bootstrapping ${regions.join(' and ')}: creating the bucket and roles that CDK deploys with`);
  run.bootstrap(on.account, regions, on.deployment.qualifier);
}

/** A first deployment that failed leaves an empty stack, which CDK replaces. */
async function wasNeverMade({ aws, settings: { name } }: Target): Promise<boolean> {
  const { Stacks } = await aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
  return ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE'].includes(Stacks?.[0]?.StackStatus ?? '');
}

async function gone(on: Target, deployed: Template, coming: Template, run: Programs): Promise<string[]> {
  const { aws } = on;
  const all = [...(await stoppedByHand(aws, deployed)), ...removals(deployed, coming, run.now?.())];
  const warmup = changesRedis(deployed, coming) ? (await outputsOf(on))['WarmupFunctionName'] : undefined;
  if (warmup === undefined) return all;
  let soon: number;
  try {
    ({ soon } = await roundsAhead(aws, warmup));
  } catch (error) {
    // The change may be meant to fix a stock that does not answer.
    if (!(error instanceof UsageError)) throw error;
    return [...all, error.message];
  }
  return soon === 0 ? all : [...all, `the sale of ${soon} round${soon === 1 ? '' : 's'} that ${soon === 1 ? 'is' : 'are'} open now or within ten minutes, for as long as the deployment takes`];
}

async function askFor(all: string[], run: Programs): Promise<void> {
  if (all.length === 0) return;
  run.say(`This deployment would remove:\n${all.map((each) => `  - ${each}`).join('\n')}`);
  if (!(await run.agreed('remove it'))) throw new UsageError('Nothing was deployed.');
}

function afterAFirstFailure({ name, settings: { edge } }: Target): string {
  if (edge === undefined) return 'CloudFormation has deleted what it had created.';
  const stack = needsEdgeStack(edge) ? ` except for the edge's stack; \`./flash destroy ${name}\` deletes that, or the next deployment uses it` : '';
  return (
    `CloudFormation has deleted what it had created${stack}. If AWS says that the account must be verified before it can use CloudFront: ` +
    `ask AWS Support for it, and write edge: false into deployments/${name}.ts meanwhile.`
  );
}

/**
 * Published rounds that are not over: those open now or within ten minutes, and those that open later. Runs `warmup`, which loads
 * what opens soon. Its result has all rounds, including those that only members see.
 */
async function roundsAhead({ lambda }: Aws, warmup: string): Promise<{ soon: number; later: number }> {
  let text: string;
  let answer: Record<string, unknown> | undefined;
  try {
    const { Payload, FunctionError } = await lambda.send(new InvokeCommand({ FunctionName: warmup, Payload: new TextEncoder().encode('{}') }));
    text = `answered ${new TextDecoder().decode(Payload)}`;
    if (FunctionError === undefined) answer = JSON.parse(new TextDecoder().decode(Payload));
  } catch (error) {
    text = `was not run: ${(error as Error).name}: ${(error as Error).message}`;
  }
  const counts = ['loaded', 'present', 'awaiting_beacon', 'failed', 'later'].map((name) => answer?.[name]);
  if (!counts.every((each): each is number => typeof each === 'number')) {
    throw new UsageError(`Could not find out whether a round is open: ${warmup} ${text.slice(0, 300)}. Its log says more.`);
  }
  const later = counts.pop()!;
  return { soon: counts.reduce((sum, each) => sum + each, 0), later };
}
