/** How long until functions know a new key, in milliseconds. They refresh secrets within a minute, but one that slept uses its old
 * value for a quarter of an hour (`USABLE` in shared/runtime). */
export const KNOWN_AFTER_MS = 20 * 60_000;

/** The secret with the edge's keys: `key1`, and `key2` during a rotation. */
export type EdgeKeys = Record<string, string>;

const number = (name: string): number => Number(name.slice('key'.length));

/**
 * The next step of a rotation, from its current state: it can be run at any time, and repeatedly. `put` is the secret's new value;
 * `say` tells the person what to do.
 */
export function nextKeyStep(
  { keys, sent, changedAt, file }: { keys: EdgeKeys; sent: string; changedAt: number; file: string },
  makeKey: () => string,
  now = Date.now(),
): { put?: EdgeKeys; say: string } {
  const newest = Object.keys(keys).reduce((one, other) => (number(other) > number(one) ? other : one), sent);
  if (keys[sent] === undefined) {
    throw new Error(`CloudFront sends ${sent}, which is missing from the secret, so requests are refused. Put it back, or deploy with another edgeKey`);
  }
  if (newest === sent && Object.keys(keys).length === 1) {
    const next = `key${number(sent) + 1}`;
    const at = new Date(now + KNOWN_AFTER_MS).toISOString();
    return {
      put: { ...keys, [next]: makeKey() },
      say: `${next} is in the secret beside ${sent}. From ${at} on every function accepts it. Then write edgeKey: '${next}' into ${file}, deploy, and run this again.`,
    };
  }
  if (newest !== sent) {
    return now - changedAt < KNOWN_AFTER_MS
      ? { say: `${newest} was added a moment ago. Deploy with edgeKey: '${newest}' after ${new Date(changedAt + KNOWN_AFTER_MS).toISOString()}.` }
      : { say: `Write edgeKey: '${newest}' into ${file}, deploy, and run this again.` };
  }
  const old = Object.keys(keys).filter((name) => name !== sent);
  return { put: { [sent]: keys[sent] }, say: `CloudFront sends ${sent}. ${old.join(', ')} is removed from the secret, and stops working within minutes.` };
}

/** Why CloudFront cannot send this key yet, if it cannot. */
export function keyProblem(wanted: string, keys: EdgeKeys, changedAt: number, sent: string | undefined, now = Date.now()): string | undefined {
  if (keys[wanted] === undefined) return `the secret has no ${wanted}, only ${Object.keys(keys).join(', ')}: functions would refuse every request`;
  if (sent !== undefined && wanted !== sent && now - changedAt < KNOWN_AFTER_MS) {
    return `functions may not know ${wanted} before ${new Date(changedAt + KNOWN_AFTER_MS).toISOString()}`;
  }
  return undefined;
}

/** Which key CloudFront sends, according to the deployed template. */
export function sentKey(template: object): string | undefined {
  return JSON.stringify(template).match(/:SecretString:(key\d+)::/)?.[1];
}
