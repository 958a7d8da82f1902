import { InvokeCommand } from '@aws-sdk/client-lambda';
import { UsageError } from '../lib/settings.ts';
import type { Aws } from './aws.ts';

/** Published rounds that are not over: those open now or within ten minutes, and those that open later. */
export interface RoundsAhead {
  soon: number;
  later: number;
}

/** Runs `warmup`, which loads what opens soon. Its result has all rounds, including those that only members see. */
export async function roundsAhead({ lambda }: Aws, warmup: string): Promise<RoundsAhead> {
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
