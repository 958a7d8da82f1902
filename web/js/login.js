// The sign-in dialog.

import { clock } from './clock.js';
import { config } from './config.js';
import { h } from './dom.js';
import { language, t } from './i18n.js';
import { SignInCancelled } from './session.js';

/** The user names that the stand-in for an issuer accepts. */
const NAME = /^[!-~]{1,64}$/;

/** Shows the dialog, and resolves with `{user, token}`. */
export async function signInDialog(expired, { operator = false } = {}) {
  const { login } = await config();
  return new Promise((done, stop) => {
    const before = document.activeElement;
    const dialog = h('dialog', { class: 'login', 'aria-labelledby': 'login-title' });
    const ended = new AbortController();
    let result = null;
    const finish = (value) => {
      result = value;
      dialog.close();
    };
    const fill = () => {
      const which = expired ? 'problem.unauthorized' : 'login';
      dialog.replaceChildren(
        h('h2', { id: 'login-title' }, t(`${which}.title`)), h('p', {}, t(`${which}.text`)),
        login.kind === 'oidc' ? redirect(login, dialog) : form(login, operator, finish, dialog));
    };
    fill();
    language.addEventListener('change', fill, { signal: ended.signal });
    dialog.addEventListener('close', () => {
      ended.abort();
      dialog.remove();
      if (before?.isConnected) before.focus();
      if (result) done(result);
      else stop(new SignInCancelled());
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const cancel = (dialog) => h('button', { type: 'button', class: 'link', onclick: () => dialog.close() }, t('login.cancel'));

function redirect(login, dialog) {
  const said = h('p', { class: 'error', role: 'alert' });
  const go = () => import('./oidc.js').then(({ redirectToIssuer }) => redirectToIssuer(login, clock)).catch(() => {
    said.textContent = t('login.failed');
  });
  return h('div', { class: 'actions' }, said,
    h('button', { type: 'button', class: 'primary', autofocus: true, onclick: go }, t('login.redirect')), cancel(dialog));
}

function form(login, operator, finish, dialog) {
  const input = h('input', {
    id: 'user', name: 'user', autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', required: true,
    maxlength: 64, autofocus: true, 'aria-describedby': 'user-hint login-said',
  });
  const said = h('p', { class: 'error', id: 'login-said', role: 'alert' });
  const go = h('button', { type: 'submit', class: 'primary' }, t('sign.in'));
  const submit = async (event) => {
    event.preventDefault();
    const user = input.value.trim();
    if (!NAME.test(user)) {
      said.textContent = t('login.user.wrong');
      input.focus();
      return;
    }
    go.setAttribute('aria-disabled', 'true');
    go.textContent = t('login.busy');
    try {
      const response = await fetch(login.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(operator ? { user, operator } : { user }),
      });
      if (!response.ok) throw new Error(String(response.status));
      const { token } = await response.json();
      finish({ user, token });
    } catch {
      said.textContent = t('login.failed');
      go.removeAttribute('aria-disabled');
      go.textContent = t('sign.in');
    }
  };
  return h('form', { onsubmit: submit, novalidate: true },
    h('label', { for: 'user' }, t('login.user')), input,
    h('p', { class: 'quiet', id: 'user-hint' }, t('login.user.hint')), said,
    h('div', { class: 'actions' }, go, cancel(dialog)));
}
