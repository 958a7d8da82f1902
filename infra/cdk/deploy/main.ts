// The commands behind `./flash deploy` and its relatives: main.ts COMMAND ENV [--yes] [--email …] …
import { parseArgs } from 'node:util';
import { UsageError } from '../lib/settings.ts';
import { run } from './commands.ts';
import { APP } from './paths.ts';

const text = { type: 'string' } as const;
const options = { yes: { type: 'boolean' }, email: text, id: text, 'price-minor': text, currency: text } as const;

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  process.chdir(APP);
  const { ENV, YES, EMAIL, ID, PRICE_MINOR, CURRENCY } = process.env;
  const [command = '', name = ENV] = positionals;
  // Each flag may also be a variable.
  await run(command, name, { yes: YES === '1', email: EMAIL, id: ID, 'price-minor': PRICE_MINOR, currency: CURRENCY, ...values });
} catch (error) {
  const isMistake = error instanceof UsageError || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
  if (!isMistake) throw error;
  console.error((error as Error).message);
  process.exitCode = 1;
}
