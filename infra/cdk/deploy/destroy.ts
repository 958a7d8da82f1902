import { DeleteStackCommand, DescribeStackResourcesCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { edgeStackOf } from '../lib/edge-stack.ts';
import { UsageError } from '../lib/settings.ts';
import type { Aws } from './aws.ts';
import { deployedTemplate } from './removals.ts';
import type { Programs } from './deploy.ts';
import type { Target } from './target.ts';

/** Deletes a deployment, including what a failed first one may have left, and prints what remains. */
export async function destroy(on: Target, { agreed, say }: Pick<Programs, 'agreed' | 'say'>): Promise<void> {
  const { settings, aws, edgeAws } = on;
  const edgeStack = edgeStackOf(settings.name);
  const deployed = await deployedTemplate(aws, settings.name);
  // Whatever the file says now: the deployment may have had a firewall before.
  const hasEdge = settings.emulator === undefined && (await deployedTemplate(edgeAws, edgeStack)) !== undefined;
  const stacks = [...(deployed === undefined ? [] : [settings.name]), ...(hasEdge ? [edgeStack] : [])];
  if (stacks.length === 0) return say(`There is no stack ${settings.name}.`);
  const { StackResources = [] } =
    deployed === undefined ? {} : await aws.cloudFormation.send(new DescribeStackResourcesCommand({ StackName: settings.name }));
  const remains = StackResources.filter(({ LogicalResourceId: id }) => /^Retain/.test(deployed?.Resources[id ?? '']?.DeletionPolicy ?? ''));
  say(`${stacks.join(' and ')} will be deleted, with everything in ${stacks.length === 1 ? 'it' : 'them'}${remains.length === 0 ? '.' : ' but what is below.'}`);
  const left = [
    ...remains.map(({ ResourceType: type, PhysicalResourceId: id }) => `${type} ${id}${removal(type, id, aws.region)}`),
    `what \`cdk bootstrap\` made, for other stacks of the account${on.deployment.qualifier === undefined ? ' (CDKToolkit)' : ` (CDKToolkit-${on.deployment.qualifier})`}`,
  ];
  const list = `What remains:\n${left.map((each) => `  - ${each}`).join('\n')}`;
  say(list);
  if (!(await agreed(settings.name))) throw new UsageError('Nothing was destroyed.');
  if (deployed !== undefined) await remove(aws, settings.name, say);
  if (hasEdge) await remove(edgeAws, edgeStack, say);
  console.log(list);
}

/** The command that deletes what a stack leaves behind. */
function removal(type: string | undefined, id: string | undefined, region: string): string {
  switch (type) {
    case 'AWS::DynamoDB::Table':
      return `\n      aws dynamodb update-table --no-deletion-protection-enabled --table-name ${id} --region ${region}\n      aws dynamodb delete-table --table-name ${id} --region ${region}`;
    case 'AWS::SecretsManager::Secret':
      return `\n      aws secretsmanager delete-secret --secret-id ${id} --region ${region}`;
    case 'AWS::Cognito::UserPool':
      return `\n      aws cognito-idp delete-user-pool --user-pool-id ${id} --region ${region}`;
    default:
      return ' (belongs to the account: other APIs use it to log)';
  }
}

async function remove({ cloudFormation }: Aws, StackName: string, say: Programs['say']): Promise<void> {
  say(`Deleting ${StackName}`);
  await cloudFormation.send(new DeleteStackCommand({ StackName }));
  const { state, reason } = await waitUntilStackDeleteComplete({ client: cloudFormation, maxWaitTime: 3_600 }, { StackName });
  if (state !== 'SUCCESS') throw new UsageError(`${StackName} could not be deleted: ${JSON.stringify(reason)}`);
}
