import { RemovalPolicy } from 'aws-cdk-lib';
import type { Settings } from './settings.ts';

/** What becomes of data when its resource goes: kept where data is, but not by a first deployment that fails. */
export function kept({ keepData }: Settings): RemovalPolicy {
  return keepData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
