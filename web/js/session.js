// The signed-in user. Stored for this tab, so that the session survives a reload.

import { stored } from './kept.js';

const STORED = 'session';

/** The user closed the dialog without signing in. */
export class SignInCancelled extends Error {
  name = 'SignInCancelled';
}

class Session extends EventTarget {
  #current = stored(STORED, 'sessionStorage');
  #signingIn = null;
  /** Shows the dialog: `(expired) => Promise<{user, token}>`. Set by the page. */
  dialog = () => Promise.reject(new SignInCancelled());

  /** Renews the token without asking the user; resolves with whether that succeeded. Set by the page. */
  silent = () => Promise.resolve(false);

  /** `{user, token, operator?}` or null. */
  get current() {
    return this.#current;
  }

  set(current) {
    this.#current = current;
    if (current) sessionStorage.setItem(STORED, JSON.stringify(current));
    else sessionStorage.removeItem(STORED);
    this.dispatchEvent(new Event('change'));
  }

  /** Takes a new token of the same user. */
  renewed(token) {
    this.#current = { ...this.#current, token };
    sessionStorage.setItem(STORED, JSON.stringify(this.#current));
  }

  /** Waits until a user is signed in. */
  async require() {
    if (!this.#current) await this.#signIn(false);
  }

  /** Offers to sign in, which the user may decline. */
  offer() {
    this.require().catch(() => {});
  }

  /** Replaces a refused token: renews it, or has the user sign in again. Concurrent requests share one dialog. */
  async renew(token) {
    if (this.#current?.token === token && (await this.silent())) return;
    await this.signIn(token);
  }

  /** Has the user sign in again, without trying to renew the token. */
  async signIn(token) {
    if (this.#current && this.#current.token !== token) return;
    await this.#signIn(true);
  }

  #signIn(expired) {
    this.#signingIn ??= this.dialog(expired)
      .then((next) => this.set(next))
      .finally(() => { this.#signingIn = null; });
    return this.#signingIn;
  }
}

export const session = new Session();
