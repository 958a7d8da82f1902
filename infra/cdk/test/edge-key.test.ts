import { describe, expect, test } from 'vitest';
import { type EdgeKeys, KNOWN_AFTER_MS, keyProblem, nextKeyStep, sentKey } from '../deploy/edge-key.ts';
import { DEPLOYED, synthesized } from './stack.ts';

const file = 'deployments/prod.ts';
const START = Date.parse('2026-11-23T12:00:00Z');

/** A shop whose operator rotates the key as instructed. Functions may have any secret of the last quarter of an hour. */
class Shop {
  now = START;
  sent = 'key1';
  private readonly secrets: { keys: EdgeKeys; since: number }[] = [{ keys: { key1: 'one' }, since: 0 }];

  get secret() {
    return this.secrets.at(-1)!;
  }

  rotate(): string {
    const step = nextKeyStep({ keys: this.secret.keys, sent: this.sent, changedAt: this.secret.since, file }, () => `made at ${this.now}`, this.now);
    if (step.put !== undefined) this.secrets.push({ keys: step.put, since: this.now });
    this.mustBeLetIn();
    return step.say;
  }

  deploy(key: string): string | undefined {
    const problem = keyProblem(key, this.secret.keys, this.secret.since, this.sent, this.now);
    if (problem !== undefined) return problem;
    // CloudFront's edges change one after another, so both keys are sent for a while.
    this.mustBeLetIn();
    this.sent = key;
    this.mustBeLetIn();
    return undefined;
  }

  private mustBeLetIn(): void {
    const known = this.secrets.filter((_, index) => (this.secrets[index + 1]?.since ?? Infinity) > this.now - 15 * 60_000);
    for (const { keys } of known) expect(Object.keys(keys)).toContain(this.sent);
  }
}

test('a key is rotated in steps, and no request is refused at any of them', () => {
  const shop = new Shop();
  expect(shop.rotate()).toMatch(/^key2 is in the secret beside key1\. From 2026-11-23T12:20:00\.000Z on .*edgeKey: 'key2' into deployments\/prod\.ts/);
  expect(shop.deploy('key2')).toMatch(/may not know key2 before 2026-11-23T12:20/);
  expect(shop.rotate()).toMatch(/key2 was added a moment ago\. Deploy .* after 2026-11-23T12:20/);
  shop.now += KNOWN_AFTER_MS;
  expect(shop.rotate()).toBe("Write edgeKey: 'key2' into deployments/prod.ts, deploy, and run this again.");
  expect(shop.deploy('key2')).toBeUndefined();
  expect(shop.rotate()).toMatch(/CloudFront sends key2\. key1 is removed/);
  expect(Object.keys(shop.secret.keys)).toEqual(['key2']);
  expect(shop.rotate()).toMatch(/^key3 is in the secret beside key2/);
});

describe('a key that functions do not have is not sent', () => {
  test('by a deployment', () => {
    expect(keyProblem('key2', { key1: 'a' }, START, 'key1', START)).toMatch(/has no key2, only key1: functions would refuse/);
    expect(keyProblem('key1', { key1: 'a' }, START, undefined, START)).toBeUndefined();
    expect(keyProblem('key1', { key1: 'a' }, START, 'key1', START)).toBeUndefined();
  });

  test('and one that CloudFront sends is not removed', () => {
    expect(() => nextKeyStep({ keys: { key2: 'b' }, sent: 'key1', changedAt: 0, file }, () => 'x')).toThrow(/sends key1, which is missing from the secret/);
  });
});

test('the key that is sent is read from the template', () => {
  expect(sentKey(synthesized(DEPLOYED.prod).toJSON())).toBe('key1');
  expect(sentKey(synthesized(DEPLOYED.local).toJSON())).toBeUndefined();
});
