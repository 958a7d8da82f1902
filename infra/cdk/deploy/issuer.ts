const TIMEOUT_MS = 10_000;

/**
 * What is wrong with an issuer, if anything. API Gateway reads its discovery document and keys at deployment, and only accepts
 * RSA keys (API Gateway, "Control access to HTTP APIs with JWT authorizers").
 */
export async function issuerProblem(issuer: string, ask: typeof fetch = fetch): Promise<string | undefined> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = await json(url, ask);
  if (typeof document === 'string') return `its discovery document ${document}: ${url}`;
  if (document['issuer'] !== issuer) {
    return `its discovery document says that its name is ${JSON.stringify(document['issuer'])}, and tokens have that in \`iss\`: write it exactly so, including the slash`;
  }
  const { jwks_uri: keysUrl } = document;
  if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) {
    return `its discovery document has no https URL of keys (jwks_uri is ${JSON.stringify(keysUrl)})`;
  }
  const set = await json(keysUrl, ask);
  if (typeof set === 'string') return `its key set ${set}: ${keysUrl}`;
  const keys = Array.isArray(set['keys']) ? (set['keys'] as Record<string, unknown>[]) : [];
  if (keys.length === 0) return `its key set has no keys: ${keysUrl}`;
  const usable = keys.filter(({ kty, use, alg, kid }) => {
    const signs = use === undefined || use === 'sig';
    return kty === 'RSA' && signs && typeof kid === 'string' && (alg === undefined || /^RS(256|384|512)$/.test(String(alg)));
  });
  if (usable.length > 0) return undefined;
  const found = keys.map(({ kty, alg, kid }) => `${String(kty)}${alg === undefined ? '' : ` ${String(alg)}`}${kid === undefined ? ' without kid' : ''}`);
  return `API Gateway only accepts RSA signing keys with a \`kid\` (RS256, RS384, RS512), but its key set has ${found.join(', ')}: let it sign with RS256`;
}

async function json(url: string, ask: typeof fetch): Promise<Record<string, unknown> | string> {
  let response: Response;
  try {
    // Redirects are not followed, since it is unknown whether API Gateway would.
    response = await ask(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS), headers: { accept: 'application/json' } });
  } catch (error) {
    const { message, cause } = error as Error;
    return `cannot be read (${cause instanceof Error ? cause.message : message})`;
  }
  if (response.status !== 200) return `is answered with ${response.status}`;
  try {
    const value: unknown = await response.json();
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  return 'is not a JSON object';
}
