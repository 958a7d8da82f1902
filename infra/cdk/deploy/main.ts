// The commands behind `make deploy` and its relatives: main.ts COMMAND ENV
import { UsageError } from '../lib/settings.ts';
import { run } from './commands.ts';
import { APP } from './paths.ts';

const [command = '', name] = process.argv.slice(2);
try {
  process.chdir(APP);
  await run(command, name);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
