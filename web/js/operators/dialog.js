// Dialogs that ask before an action, act, and say what came of it.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { problemWords } from '../parts.js';

/** A field of a form: `{name, label, type, value, attributes}`; `options` makes it a choice, `lines` a text area. */
function field({ name, label, type = 'text', value = '', options, lines, ...more }) {
  if (options) {
    const option = ([key, text]) => h('option', { value: key, selected: key === value }, text);
    return h('label', {}, label, h('select', { name, ...more }, options.map(option)));
  }
  if (lines) return h('label', { class: 'wide' }, label, h('textarea', { name, rows: lines, required: true, ...more }, value));
  return h('label', {}, label, h('input', { name, type, value, required: true, ...more }));
}

/** A problem in words, with the system's own details. */
export function failure(problem) {
  const { title } = problemWords(problem);
  const detail = problem.members?.detail;
  return t('op.failed', { title: detail ? `${title} (${detail})` : title });
}

/** What an answer means: its own words, or "done" if it needs no more. */
function done(what, { words, moved, may_be_more: mayBeMore, still_stopped: stillStopped } = {}) {
  if (words) return words;
  if (stillStopped) return t('op.start.still');
  return moved === undefined ? t('op.done', { what }) : t(mayBeMore ? 'op.redrive.more' : 'op.redrive.done', { n: moved });
}

/** Asks, acts, and reports: `said` receives the words. Returns the answer, or null. */
export async function asking(question, run, said = () => {}) {
  const answer = await confirm(question, run);
  if (answer !== null) said(done(question.title, answer));
  return answer;
}

/**
 * Explains an action and runs it: resolves with the result of `run`, or with null. After a failure the dialog stays open with
 * its input. `typed` must be typed to confirm: one of its `words`. `more` are elements below the text.
 */
function confirm({ title, text, more = [], go, fields = [], danger = false, typed = null, wide = false }, run) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    let [answer, busy] = [null, false];
    const dialog = h('dialog', { class: wide ? 'form wide' : 'form', 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-text' });
    const said = h('p', { class: 'error', role: 'alert', id: 'confirm-said' });
    const progress = h('p', { class: 'said', role: 'status' });
    const word = typed && h('input', {
      name: 'typed', id: 'confirm-typed', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', 'aria-describedby': 'confirm-said',
    });
    const submit = async (event) => {
      event.preventDefault();
      if (busy) return;
      said.textContent = '';
      word?.removeAttribute('aria-invalid');
      if (typed && !typed.words.includes(word.value.trim())) {
        word.setAttribute('aria-invalid', 'true');
        said.textContent = t('op.typed.wrong');
        word.focus();
        return;
      }
      const values = Object.fromEntries(new FormData(event.target));
      busy = true;
      send.setAttribute('aria-disabled', 'true');
      try {
        answer = await run(values, (words) => {
          progress.textContent = words;
        });
        dialog.close();
      } catch (problem) {
        said.textContent = failure(problem);
      } finally {
        busy = false;
        send.removeAttribute('aria-disabled');
      }
    };
    const send = h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, go);
    const leave = h('button', { type: 'button', class: 'secondary', autofocus: fields.length === 0 && !typed, onclick: () => dialog.close() }, t('op.cancel'));
    dialog.append(
      h('h2', { id: 'confirm-title' }, title), h('p', { id: 'confirm-text' }, text), ...more,
      h('form', { onsubmit: submit },
        fields.length ? h('div', { class: fields.length > 2 ? 'fields two' : 'fields' }, fields.map(field)) : null,
        typed ? [h('label', { for: 'confirm-typed' }, typed.label), word] : null, said, progress,
        h('div', { class: 'actions' }, send, leave)));
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
