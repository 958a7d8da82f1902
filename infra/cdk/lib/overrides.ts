import { type OidcIdentity, type ProvisionedWindow, type Settings } from './settings.ts';

/** Values given on the command line with `-c`. */
export interface Overrides {
  name?: string;
  issuer?: string;
  audience?: string;
  redisUrl?: string;
  logLevel?: string;
  alarmEmail?: string;
  emulator?: string;
  payUrl?: string;
  contactUrl?: string;
  giftUrl?: string;
  pictureHosts?: string;
  isolateHotSalesTo?: string;
  webhookUrl?: string;
  operatorClaim?: string;
  provisioned?: string;
  accountConcurrency?: string;
}

export function withOverrides(settings: Settings, overrides: Overrides): Settings {
  const { name, issuer, audience, redisUrl, logLevel, alarmEmail, emulator, payUrl, operatorClaim, provisioned } =
    overrides;
  const { accountConcurrency, contactUrl, giftUrl, isolateHotSalesTo, pictureHosts, webhookUrl } = overrides;
  const result: Settings = { ...settings };
  if (name !== undefined) result.name = name;
  if (logLevel !== undefined) result.logLevel = logLevel as Settings['logLevel'];
  if (alarmEmail !== undefined) result.alarmEmail = alarmEmail;
  if (emulator !== undefined) result.emulator = emulator;
  if (payUrl !== undefined && result.edge !== undefined) {
    result.edge = { ...result.edge, page: { ...result.edge.page, payUrl } };
  }
  if (contactUrl !== undefined && result.edge !== undefined) {
    result.edge = { ...result.edge, page: { ...result.edge.page, contactUrl } };
  }
  if (giftUrl !== undefined) result.winners = { ...result.winners, url: giftUrl };
  if (pictureHosts !== undefined) result.pictureHosts = pictureHosts.split(',').map((part) => part.trim());
  if (isolateHotSalesTo !== undefined) result.isolateHotSalesTo = Number(isolateHotSalesTo);
  if (webhookUrl !== undefined) result.webhook = { url: webhookUrl };
  if (issuer !== undefined || audience !== undefined) {
    const given: OidcIdentity =
      settings.identity.kind === 'oidc' ? settings.identity : { kind: 'oidc', issuer: '', audience: [] };
    result.identity = {
      kind: 'oidc',
      issuer: issuer ?? given.issuer,
      audience: audience?.split(',').map((part) => part.trim()) ?? given.audience,
    };
  }
  if (operatorClaim !== undefined) result.operatorClaims = operatorClaim.split(',').map((part) => part.trim());
  if (accountConcurrency !== undefined && result.reservedConcurrency !== undefined) {
    result.reservedConcurrency = { ...result.reservedConcurrency, account: Number(accountConcurrency) };
  }
  if (provisioned !== undefined) result.provisioned = windows(provisioned);
  if (redisUrl !== undefined) result.redis = { kind: 'external', url: redisUrl };
  return result;
}

/** `FROM/TO/COUNT`, several of them separated by commas. What is wrong with one is said by `validated`. */
function windows(text: string): ProvisionedWindow[] {
  return text.split(',').map((each) => {
    const [from = '', to = '', count = ''] = each.trim().split('/');
    return { from, to, count: Number(count) };
  });
}
