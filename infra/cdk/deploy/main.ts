// The commands behind `./flash deploy` and its relatives: main.ts COMMAND ENV [--yes] [--email …] …
import { parseArgs } from 'node:util';
import { UsageError } from '../lib/settings.ts';
import { run } from './commands.ts';
import { APP } from './paths.ts';

const text = { type: 'string' } as const;
const options = { yes: { type: 'boolean' }, email: text, id: text, 'price-minor': text, currency: text } as const;

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  // Each flag is also a variable: --price-minor is PRICE_MINOR.
  for (const [flag, value] of Object.entries(values)) process.env[flag.toUpperCase().replace('-', '_')] = value === true ? '1' : String(value);
  process.chdir(APP);
  const [command = '', name = process.env['ENV']] = positionals;
  await run(command, name);
} catch (error) {
  const isMistake = error instanceof UsageError || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
  if (!isMistake) throw error;
  console.error((error as Error).message);
  process.exitCode = 1;
}
