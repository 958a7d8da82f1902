import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakesIn, synthesize } from '../bin/examples.ts';
import { FUNCTION_NAMES } from '../lib/functions.ts';
import { fakeFunctions, workplace } from './stack.ts';

// `npm run lint` synthesizes all examples without a warning. Which mistakes get which instructions is in deployment.test.ts and
// functions.test.ts.
test('a mistake gets instructions instead of a stack trace', () => {
  const context = { ...fakesIn(join(workplace, 'fakes')), env: 'dev', functions: fakeFunctions(FUNCTION_NAMES, 'x86_64') };
  const { status, stderr } = synthesize(join(workplace, 'app'), context, { withTemplateCheck: false });
  expect(status).toBe(1);
  expect(stderr).toMatch(/is built for x86_64 .*\.\/flash build-aws/);
  expect(stderr).not.toContain('    at ');
});
