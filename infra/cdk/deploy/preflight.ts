import { DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { DescribeSecretCommand, GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { paginateListAWSDefaultServiceQuotas, paginateListServiceQuotas, type ServiceQuota } from '@aws-sdk/client-service-quotas';
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import type { PlannedSale } from '../lib/deployment.ts';
import { EDGE_REGION, needsEdgeStack } from '../lib/edge-stack.ts';
import { concurrencyOf, FIRST_KEY, LEAST_UNRESERVED, type Settings } from '../lib/settings.ts';
import type { Aws } from './aws.ts';
import { keyProblem, sentKey } from './edge-key.ts';
import { issuerProblem } from './issuer.ts';
import { keepsWindows, type Template } from './removals.ts';
import type { AccountQuotas, Plan } from './steps.ts';
import type { Target } from './target.ts';

/** The result of one check. A problem has a fix: a command where there is one. */
export interface Finding {
  check: string;
  /** `wait`: nothing is wrong, but somebody has to do something. */
  is: 'good' | 'wrong' | 'wait';
  says: string;
  fix?: string;
  /** A deployment would fail because of it, or shut the shop: `./flash deploy` does not begin. */
  stops?: true;
  /** It could not be checked. */
  unseen?: true;
}

export interface Preflight extends Target {
  /** The template that is deployed, if there is a stack. */
  deployed: Template | undefined;
  outputs: Record<string, string>;
  fetch?: typeof fetch;
  /** The planner's answer about a sale, with the account's own quotas. */
  plan: (sale: PlannedSale, quotas: AccountQuotas) => Promise<Plan>;
  now?: number;
}

/** The input of the checks that do not need the planner. */
type Seen = Omit<Preflight, 'plan'>;

/** The version that this CDK's asset publishing needs; templates check it themselves (`CheckBootstrapVersion`). */
const BOOTSTRAP_VERSION = 6;
/** How long before an opening a shop must be unparked: the cluster takes a quarter of an hour, and rounds are loaded ten minutes
 * before. */
const UNPARKED_BEFORE_MS = 60 * 60_000;
const LAMBDA_QUOTA = 'L-B99A9384';
const DEFAULT_QUALIFIER = 'hnb659fds';

export const qualifierOf = ({ qualifier }: Settings): string => qualifier ?? DEFAULT_QUALIFIER;

/** Checks everything that a deployment and its next sales need. It only reads. */
export function preflight(about: Preflight): Promise<Finding[]> {
  return looked(about, { account, bootstrap, stack, issuer, certificate, edge, quotas, alarms, secrets, 'edge key': edgeKey, openings });
}

/** The checks before each deployment: those that stop it, and those that could not be made. */
export async function hindrances(about: Seen): Promise<Finding[]> {
  const lambda = async ({ aws }: Seen): Promise<Finding> => executions(about, await concurrency(aws));
  // The processes of a new version read the secrets again.
  const findings = await looked(about, { issuer, certificate, 'lambda quota': lambda, secrets, 'edge key': edgeKey, openings });
  return findings.filter(({ stops, unseen }) => stops || unseen);
}

type Look<T> = (about: T) => Finding | Finding[] | Promise<Finding | Finding[]>;

async function looked<T>(about: T, checks: Record<string, Look<T>>): Promise<Finding[]> {
  const found = Object.entries(checks).map(async ([check, look]): Promise<Finding | Finding[]> => {
    try {
      return await look(about);
    } catch (error) {
      // A check that AWS does not permit says nothing about the others.
      const { name, message } = error as Error;
      const fix = /AccessDenied|NotAuthorized|Unauthorized/i.test(name) ? 'allow these credentials to read it, or let somebody run this who may' : undefined;
      return { check, is: 'wrong', says: `it could not be checked (${name}: ${message})`, unseen: true, ...(fix && { fix }) };
    }
  });
  return (await Promise.all(found)).flat();
}

const good = (check: string, says: string): Finding => ({ check, is: 'good', says });
const wrong = (check: string, says: string, fix: string): Finding => ({ check, is: 'wrong', says, fix });
const stop = (check: string, says: string, fix: string): Finding => ({ ...wrong(check, says, fix), stops: true });
const wait = (check: string, says: string, fix: string): Finding => ({ check, is: 'wait', says, fix });

/** Always good: `target` has already refused credentials of another account. */
function account({ deployment, account: id, name }: Preflight): Finding {
  return good('account', deployment.account === undefined ? `${id}; write account: '${id}' into deployments/${name}.ts, so that no other account is deployed to by mistake` : id);
}

/** 0 in a region that was never bootstrapped. */
async function bootstrapVersion({ ssm }: Aws, qualifier: string): Promise<number> {
  try {
    const { Parameter } = await ssm.send(new GetParameterCommand({ Name: `/cdk-bootstrap/${qualifier}/version` }));
    return Number(Parameter?.Value);
  } catch (error) {
    if ((error as Error).name === 'ParameterNotFound') return 0;
    throw error;
  }
}

/** Whether a region has to be bootstrapped, for the first time or again. */
export const needsBootstrap = async (aws: Aws, qualifier: string): Promise<boolean> =>
  (await bootstrapVersion(aws, qualifier)) < BOOTSTRAP_VERSION;

/** The AWS of each region that needs `cdk bootstrap`. */
export function bootstrapped({ settings, aws, edgeAws }: Pick<Preflight, 'settings' | 'aws' | 'edgeAws'>): Aws[] {
  if (settings.emulator !== undefined) return [];
  const needsEdge = settings.edge !== undefined && needsEdgeStack(settings.edge) && aws.region !== EDGE_REGION;
  return needsEdge ? [aws, edgeAws] : [aws];
}

async function bootstrap(about: Preflight): Promise<Finding[]> {
  const qualifier = qualifierOf(about.settings);
  return Promise.all(
    bootstrapped(about).map(async (aws) => {
      const check = `bootstrap ${aws.region}`;
      const fix = `./flash bootstrap ${about.name}`;
      const version = await bootstrapVersion(aws, qualifier);
      if (version === 0) return wrong(check, `the account is not bootstrapped there (qualifier ${qualifier}); \`./flash deploy\` does it first`, fix);
      return version >= BOOTSTRAP_VERSION ? good(check, `version ${version}`) : wrong(check, `version ${version}, but ${BOOTSTRAP_VERSION} is required`, fix);
    }),
  );
}

async function stack({ aws, settings: { name }, deployed }: Preflight): Promise<Finding> {
  if (deployed === undefined) return good('stack', `${name} does not exist yet: this would be its first deployment`);
  const { Stacks } = await aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name }));
  const status = Stacks?.[0]?.StackStatus ?? 'unknown';
  const inRegion = `--stack-name ${name} --region ${aws.region}`;
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    return wrong('stack', `${name} is ${status}: its first deployment failed, so it can only be deleted`, `aws cloudformation delete-stack ${inRegion}`);
  }
  if (status === 'UPDATE_ROLLBACK_FAILED') return wrong('stack', `${name} is ${status}`, `aws cloudformation continue-update-rollback ${inRegion}`);
  if (status.endsWith('_IN_PROGRESS')) return wait('stack', `${name} is ${status}`, `aws cloudformation wait stack-update-complete ${inRegion}`);
  return good('stack', `${name} is ${status}`);
}

async function issuer({ settings: { issuer: url }, fetch: ask, name }: Seen): Promise<Finding> {
  if (url === undefined) return good('issuer', "the deployment's own user pool");
  const problem = await issuerProblem(url, ask);
  return problem === undefined
    ? good('issuer', `${url} signs with RSA`)
    : stop('issuer', `${url}: ${problem}`, `fix the issuer, or \`issuer\` in deployments/${name}.ts; then: ./flash preflight ${name}`);
}

async function certificate({ settings: { edge }, edgeAws, name }: Seen): Promise<Finding> {
  const domain = edge?.domain;
  if (domain === undefined) return good('certificate', 'CloudFront has one for its own domain name');
  if (domain.certificateArn === undefined) return good('certificate', `is created for ${domain.name}, and validated in the zone ${domain.zone?.name}`);
  const { Certificate } = await edgeAws.acm.send(new DescribeCertificateCommand({ CertificateArn: domain.certificateArn }));
  const names = [...new Set([Certificate?.DomainName, ...(Certificate?.SubjectAlternativeNames ?? [])])].filter((each) => each !== undefined);
  const covers = names.some((each) => each === domain.name || (each.startsWith('*.') && domain.name.split('.').slice(1).join('.') === each.slice(2)));
  const again = `aws acm request-certificate --region ${EDGE_REGION} --validation-method DNS --domain-name ${domain.name}`;
  if (!covers) return stop('certificate', `it is for ${names.join(', ')}, not for ${domain.name}`, `${again}; put its ARN into deployments/${name}.ts`);
  if (Certificate?.Status === 'PENDING_VALIDATION') {
    const records = (Certificate.DomainValidationOptions ?? []).flatMap(({ ResourceRecord: record }) => (record === undefined ? [] : `${record.Name} ${record.Type} ${record.Value}`));
    return { ...wait('certificate', 'it waits for its DNS record', `create this record: ${records.join('; ')}`), stops: true };
  }
  return Certificate?.Status === 'ISSUED' ? good('certificate', `is issued for ${domain.name}`) : stop('certificate', `it is ${Certificate?.Status}`, again);
}

/** There is no API that says whether an account may use CloudFront. */
function edge({ settings, deployed, name }: Preflight): Finding[] {
  const has = deployed !== undefined && Object.values(deployed.Resources).some(({ Type }) => Type === 'AWS::CloudFront::Distribution');
  if (settings.edge === undefined || has) return [];
  return [good('edge', `an account can use CloudFront once AWS has verified it, which may take time for new ones: if the deployment says so, ask AWS Support, and write edge: false into deployments/${name}.ts meanwhile`)];
}

async function concurrency({ lambda }: Aws): Promise<number> {
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
  return AccountLimit?.ConcurrentExecutions ?? 0;
}

async function quotas(about: Preflight): Promise<Finding[]> {
  const { aws, settings, deployment, name } = about;
  const lambda = await concurrency(aws);
  const gateway = await throttleRate(aws);
  const findings = [executions(about, lambda)];
  const gatewayFix = (need: number): string =>
    gateway === undefined ? 'ask AWS for more in its console: Service Quotas, Amazon API Gateway' : raise('apigateway', gateway.QuotaCode, need, aws.region);
  const has = gateway?.Value ?? 0;
  const lets = settings.throttle.requestsPerSecond;
  findings.push(
    has >= lets
      ? good('gateway quota', `${has} requests/s, of which ${lets} are used`)
      : wrong('gateway quota', `${has} requests/s for the account, but ${name} uses ${lets}`, gatewayFix(lets)),
  );
  for (const sale of deployment.sales ?? []) {
    const left = Date.parse(sale.opensAt) - (about.now ?? Date.now());
    if (left < 0) continue;
    const check = `sale at ${sale.opensAt}`;
    const what = `${sale.units} units, ${sale.audience} people`;
    if (settings.parked) {
      const by = new Date(Date.parse(sale.opensAt) - UNPARKED_BEFORE_MS).toISOString();
      const unpark = `write profile: 'prod' into deployments/${name}.ts; then: ./flash deploy ${name}`;
      findings.push((left < UNPARKED_BEFORE_MS ? wrong : wait)(check, `${what}: nothing can be sold while ${name} is parked: unpark it by ${by}`, unpark));
      continue;
    }
    if (deployment.profile !== 'prod') {
      findings.push(wait(check, `${what}: the planner only knows prod, but ${name} has the profile ${deployment.profile}, which is for few people`, `profile: 'prod' in deployments/${name}.ts`));
      continue;
    }
    const { verdict, reasons, to_do: tasks } = await about.plan(sale, { lambda, gateway: has });
    if (verdict !== 'holds') {
      findings.push(wrong(check, `${what}: refused: ${reasons.map(({ check: bound, why }) => `${bound}: ${why}`).join('; ')}`, `./flash plan --units ${sale.units} --audience ${sale.audience} --opens-at ${sale.opensAt}`));
    } else if (tasks.length === 0) {
      findings.push(good(check, `${what}: holds with the quotas of this account`));
    } else {
      for (const { check: bound, how, need, begin_by: by } of tasks) {
        const most = Math.ceil(need);
        const fix = bound === 'lambda_concurrency' ? raise('lambda', LAMBDA_QUOTA, most, aws.region) : /^gateway_/.test(bound) ? gatewayFix(most) : how;
        findings.push(wait(check, `${what}: ${how}; the sale needs ${most}; begin by ${by}`, fix));
      }
    }
  }
  return findings;
}

function executions({ settings, aws, name }: Seen, lambda: number): Finding {
  const { reserved, waiting, needed } = concurrencyOf(settings);
  const counted = settings.reservedConcurrency?.account ?? 0;
  const has = `the account has ${lambda} concurrent executions`;
  const more = (value: number): string => raise('lambda', LAMBDA_QUOTA, value, aws.region);
  const fix = more(Math.max(1_000, needed));
  if (lambda < needed && needed > LEAST_UNRESERVED) {
    const said = counted <= lambda ? '' : `; deployments/${name}.ts says ${counted}`;
    return stop('lambda quota', `${has}, and ${reserved} reserved + ${LEAST_UNRESERVED} unreserved + ${waiting} provisioned = ${needed}${said}`, fix);
  }
  if (lambda < LEAST_UNRESERVED) return wait('lambda quota', `${has}, as new ones do: enough to try it out, but not for a crowd`, fix);
  if (counted > lambda) return wrong('lambda quota', `${has}, but deployments/${name}.ts counts on ${counted}`, more(counted));
  return good('lambda quota', `${lambda} concurrent executions, of which ${needed} are used`);
}

function raise(service: string, code: string | undefined, value: number, region: string): string {
  return `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${value} --region ${region}`;
}

/** The requests a second that API Gateway gives the account. Looked up by name, since raised and default quotas are listed
 * separately. */
async function throttleRate({ quotas: client }: Aws): Promise<ServiceQuota | undefined> {
  const about = { ServiceCode: 'apigateway' };
  for (const pages of [paginateListServiceQuotas({ client }, about), paginateListAWSDefaultServiceQuotas({ client }, about)]) {
    for await (const { Quotas = [] } of pages) {
      const found = Quotas.find(({ QuotaName }) => QuotaName === 'Throttle rate');
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

async function alarms({ settings: { alarmEmail, keepData }, outputs, aws, name }: Preflight): Promise<Finding> {
  if (alarmEmail === undefined) return good('alarms', keepData ? 'nobody receives them' : 'nobody receives them, which is normal in a deployment that may be destroyed');
  const topic = outputs['AlarmTopicArn'];
  if (topic === undefined) return good('alarms', `${alarmEmail} gets a message after the deployment, which must be confirmed`);
  const { Subscriptions = [] } = await aws.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: topic }));
  const subscribed = Subscriptions.find(({ Endpoint }) => Endpoint === alarmEmail);
  const again = `aws sns subscribe --topic-arn ${topic} --protocol email --notification-endpoint ${alarmEmail} --region ${aws.region}`;
  if (subscribed === undefined) return wrong('alarms', `${alarmEmail} is not subscribed`, `./flash deploy ${name}`);
  return /^arn:/.test(subscribed.SubscriptionArn ?? '')
    ? good('alarms', `${alarmEmail} has confirmed`)
    : wrong('alarms', `${alarmEmail} has not confirmed, so nobody receives alarms`, `open the link in the message of AWS; to get another one: ${again}`);
}

const SECRETS: Record<string, string> = {
  PassSecretArn: 'the pass keys',
  PaymentSecretArn: "the payment provider's key",
  WinnerSecretArn: "the gift service's key",
  WebhookSecretArn: 'the key that signs events',
  EdgeKeySecretArn: "the edge's keys",
};

async function secrets({ outputs, aws, name }: Seen): Promise<Finding[]> {
  const there = Object.entries(SECRETS).filter(([output]) => outputs[output] !== undefined);
  if (there.length === 0) return [good('secrets', 'are created with the stack')];
  return Promise.all(
    there.map(async ([output, what]): Promise<Finding> => {
      const arn = outputs[output];
      try {
        const { DeletedDate } = await aws.secrets.send(new DescribeSecretCommand({ SecretId: arn }));
        if (DeletedDate !== undefined) return stop('secrets', `${what} is scheduled for deletion`, `aws secretsmanager restore-secret --secret-id ${arn} --region ${aws.region}`);
        return good('secrets', `${what} is there`);
      } catch (error) {
        if ((error as Error).name !== 'ResourceNotFoundException') throw error;
        return stop('secrets', `${what} is gone: ${arn}`, `restore it if somebody has its value, or remove it from the stack: ./flash destroy ${name}`);
      }
    }),
  );
}

/** Whether functions know the key that CloudFront will send. If not, every request is refused. */
async function edgeKey({ outputs, aws, settings: { edge }, deployed, name, now }: Seen): Promise<Finding[]> {
  if (edge === undefined) return [];
  const arn = outputs['EdgeKeySecretArn'];
  if (arn === undefined || deployed === undefined) {
    const problem = `the secret is created with ${FIRST_KEY}, and has no ${edge.key}`;
    return edge.key === FIRST_KEY ? [] : [stop('edge key', problem, `remove edgeKey from deployments/${name}.ts`)];
  }
  const { SecretString = '{}', CreatedDate } = await aws.secrets.send(new GetSecretValueCommand({ SecretId: arn }));
  const problem = keyProblem(edge.key, JSON.parse(SecretString), CreatedDate?.getTime() ?? 0, sentKey(deployed), now);
  return problem === undefined ? [] : [stop('edge key', problem, `./flash rotate-edge-key ${name} tells what to do next`)];
}

function openings({ settings: { provisioned }, deployed, name, now = Date.now() }: Seen): Finding {
  const file = `deployments/${name}.ts`;
  const begun = provisioned.filter(({ from }) => Date.parse(from) <= now);
  const running = begun.find(({ to }) => Date.parse(to) > now);
  const dates = begun.map(({ from }) => from).join(', ');
  if (begun.length === 0) {
    return good('openings', provisioned.length === 0 ? 'none are planned' : provisioned.map(({ from, count }) => `${count} processes of each from ${from}`).join(', '));
  }
  if (deployed !== undefined && keepsWindows(deployed, provisioned)) {
    return running === undefined
      ? good('openings', `${dates}: over, and can be removed from ${file}`)
      : wait('openings', `a window is active until ${running.to}: a deployment does not affect it while \`provisioned\` is unchanged`, `change \`provisioned\` after ${running.to}`);
  }
  return running === undefined
    ? stop('openings', `${dates}: AWS refuses a time in the past`, `remove it from ${file}`)
    : stop('openings', `a window is active until ${running.to}: AWS would reset the number to none, and refuse to start it again`, `restore \`provisioned\` as deployed, or deploy after ${running.to}`);
}
