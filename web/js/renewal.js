// Keeps active users signed in, without a dialog. An issuer's refresh token works once, so the tabs of a browser share it: one
// of them renews at a time, and the others take its new token.

import { clock } from './clock.js';
import { config } from './config.js';
import { stored } from './kept.js';
import { session } from './session.js';

const STORED = 'signed-in';
/** A token is renewed this long before it expires, or after two thirds of a shorter life. */
const AHEAD_MS = 300_000;
/** A user who did nothing for this long is not active. */
const ACTIVE_MS = 15 * 60_000;
const RETRY_MS = 20_000;

/** This browser's session, `{user, token, refresh, until, since}`, or null. */
const kept = () => stored(STORED);

class Renewal {
  #timer = 0;
  #due = false;
  #renewing = null;
  #activeAt = performance.now();

  /** Takes over another tab's session, and keeps it alive from now on. */
  start() {
    const before = kept();
    if (!session.current && before && before.until > clock.now()) session.set({ user: before.user, token: before.token });
    session.silent = () => this.#renew();
    session.addEventListener('change', () => this.#changed());
    window.addEventListener('storage', ({ key }) => key === STORED && this.#heard());
    for (const event of ['pointerdown', 'keydown', 'visibilitychange']) document.addEventListener(event, () => this.#active(), { passive: true });
    this.#schedule();
  }

  /** A user has signed in at an issuer. */
  signedIn(found) {
    localStorage.setItem(STORED, JSON.stringify(found));
    session.set({ user: found.user, token: found.token });
  }

  get #mine() {
    const found = kept();
    return found && found.user === session.current?.user ? found : null;
  }

  #changed() {
    // Signing out applies to all tabs.
    if (!session.current && this.#isOfIssuer) localStorage.removeItem(STORED);
    this.#schedule();
  }

  #heard() {
    const found = kept();
    if (!found && this.#isOfIssuer) session.set(null);
    else if (this.#mine) session.renewed(found.token);
    this.#schedule();
  }

  /** Whether tabs share this session. */
  #isOfIssuer = kept() !== null;

  #schedule() {
    clearTimeout(this.#timer);
    const found = this.#mine;
    this.#isOfIssuer = found !== null;
    this.#due = false;
    if (!found?.refresh) return;
    const ahead = Math.min(AHEAD_MS, (found.until - found.since) / 3);
    this.#timer = setTimeout(() => this.#when(), Math.max(0, found.until - ahead - clock.now()));
  }

  #when() {
    this.#due = true;
    if (!document.hidden && performance.now() - this.#activeAt < ACTIVE_MS) this.#renew();
  }

  #active() {
    if (document.hidden) return;
    this.#activeAt = performance.now();
    if (this.#due) this.#renew();
  }

  /** Resolves with whether there is a new token. */
  #renew() {
    const attempt = () => this.#attempt();
    this.#renewing ??= (navigator.locks ? navigator.locks.request('renewal', attempt) : attempt()).catch(() => {
      this.#timer = setTimeout(() => this.#when(), RETRY_MS);
      return false;
    }).finally(() => { this.#renewing = null; });
    return this.#renewing;
  }

  async #attempt() {
    this.#due = false;
    const found = this.#mine;
    if (!found) return false;
    if (found.token !== session.current.token) {
      session.renewed(found.token);
      this.#schedule();
      return true;
    }
    if (!found.refresh) return false;
    const [{ login }, { refreshed }] = await Promise.all([config(), import('./oidc.js')]);
    const next = await refreshed(login, found, clock);
    // Meanwhile the user has signed out, or somebody else has signed in.
    if (this.#mine?.token !== found.token) return false;
    localStorage.setItem(STORED, JSON.stringify(next ?? { ...found, refresh: null }));
    if (next) session.renewed(next.token);
    this.#schedule();
    return next !== null;
  }
}

export const renewal = new Renewal();

/** Finishes a sign-in, if an issuer has redirected back to the page. */
export async function comeBack() {
  if (!new URLSearchParams(location.search).has('state')) return;
  try {
    const [{ login }, { finished }] = await Promise.all([config(), import('./oidc.js')]);
    const found = await finished(login, clock);
    if (found) renewal.signedIn(found);
  } catch {
    // The user is still signed out, and can try again.
  }
}
