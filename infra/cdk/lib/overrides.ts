import type { Settings } from './settings.ts';

/** Settings that programs pass with `-c` when they deploy on their own emulator. People write a file, `deployments/NAME.ts`. */
export interface Overrides {
  name?: string;
  issuer?: string;
  audience?: string;
  emulator?: string;
}

export function withOverrides(settings: Settings, { name, issuer, audience, emulator }: Overrides): Settings {
  return {
    ...settings,
    name: name ?? settings.name,
    emulator: emulator ?? settings.emulator,
    identity: { kind: 'oidc', issuer: issuer ?? '', audience: audience?.split(',').map((part) => part.trim()) ?? [] },
  };
}
