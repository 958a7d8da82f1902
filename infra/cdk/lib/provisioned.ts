import { TimeZone } from 'aws-cdk-lib';
import { Schedule } from 'aws-cdk-lib/aws-applicationautoscaling';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { ProvisionedWindow } from './settings.ts';

const ALIAS = 'live';

/** The function as whoever calls it should call it, with processes that wait for the crowd of an opening. */
export function provisioned(fn: lambda.Function, windows: ProvisionedWindow[]): lambda.IAlias {
  const alias = fn.addAlias(ALIAS);
  const processes = alias.addAutoScaling({ minCapacity: 0, maxCapacity: 0 });
  windows.forEach(({ from, to, timeZone, count }, index) => {
    const zone = timeZone === undefined ? undefined : TimeZone.of(timeZone);
    const at = (when: string, capacity: number) => ({
      schedule: when.startsWith('cron(') ? Schedule.expression(when) : Schedule.at(new Date(when)),
      timeZone: zone,
      minCapacity: capacity,
      maxCapacity: capacity,
    });
    processes.scaleOnSchedule(`From${index}`, at(from, count));
    processes.scaleOnSchedule(`To${index}`, at(to, 0));
  });
  return alias;
}
