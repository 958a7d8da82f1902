import { SettingsError, type Settings } from '../lib/settings.ts';
import { dev } from './dev.ts';
import { local } from './local.ts';
import { prod } from './prod.ts';

const ALL: Record<string, Settings> = { local, dev, prod };

export function settingsNamed(name: string | undefined): Settings {
  const settings = name === undefined ? undefined : ALL[name];
  if (settings === undefined) {
    throw new SettingsError([`choose them with -c settings=${Object.keys(ALL).join('|')}; got "${name ?? ''}"`]);
  }
  return settings;
}
