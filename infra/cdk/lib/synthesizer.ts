import { CliCredentialsStackSynthesizer, DefaultStackSynthesizer, type IStackSynthesizer } from 'aws-cdk-lib';
import type { Settings } from './settings.ts';

/** How a stack's files get to the account, and with which roles it is deployed. */
export function synthesizerOf({ functionUpload }: Settings): IStackSynthesizer {
  return functionUpload.kind === 'bucket'
    ? new CliCredentialsStackSynthesizer({ fileAssetsBucketName: functionUpload.name })
    : new DefaultStackSynthesizer({ qualifier: functionUpload.qualifier });
}
