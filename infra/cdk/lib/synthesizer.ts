import { CliCredentialsStackSynthesizer, DefaultStackSynthesizer, type IStackSynthesizer } from 'aws-cdk-lib';
import type { Settings } from './settings.ts';

/** How the files of a stack get to the account, and who deploys it. */
export function synthesizerOf({ functionUpload }: Settings): IStackSynthesizer {
  return functionUpload.kind === 'bucket'
    ? new CliCredentialsStackSynthesizer({ fileAssetsBucketName: functionUpload.name })
    : new DefaultStackSynthesizer({ qualifier: functionUpload.qualifier });
}
