import { InvokeCommand } from '@aws-sdk/client-lambda';
import { UsageError } from '../lib/settings.ts';
import type { Aws } from './aws.ts';

/** Published rounds that are not over: those that are open or open within ten minutes, and those that open later. */
export interface RoundsAhead {
  soon: number;
  later: number;
}

/** Has `warmup` run, which loads what opens soon: what it answers has all of them, those that only members see among them. */
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
    throw new UsageError(`Whether a round is open could not be seen: ${warmup} ${text.slice(0, 300)}. Its log says more.`);
  }
  const later = counts.pop()!;
  return { soon: counts.reduce((sum, each) => sum + each, 0), later };
}
