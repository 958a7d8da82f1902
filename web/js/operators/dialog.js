// Questions before anything is done.

import { h } from '../dom.js';
import { t } from '../i18n.js';

/** A field of a form: `{name, label, type, value, attributes}`, with `options` one of them, with `lines` a text of some lines. */
function field({ name, label, type = 'text', value = '', options, lines, ...more }) {
  if (options) {
    const option = ([key, text]) => h('option', { value: key, selected: key === value }, text);
    return h('label', {}, label, h('select', { name, ...more }, options.map(option)));
  }
  if (lines) return h('label', { class: 'wide' }, label, h('textarea', { name, rows: lines, required: true, ...more }, value));
  return h('label', {}, label, h('input', { name, type, value, required: true, ...more }));
}

/** Says what will happen, and resolves with what was filled in, or with null. */
export function confirm({ title, text, go, fields = [], danger = false }) {
  return new Promise((done) => {
    const before = document.activeElement;
    let result = null;
    const dialog = h('dialog', { class: 'form', 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-text' });
    const submit = (event) => {
      event.preventDefault();
      result = Object.fromEntries(new FormData(event.target));
      dialog.close();
    };
    const leave = h('button', { type: 'button', class: 'secondary', autofocus: fields.length === 0, onclick: () => dialog.close() }, t('op.cancel'));
    dialog.append(
      h('h2', { id: 'confirm-title' }, title), h('p', { id: 'confirm-text' }, text),
      h('form', { onsubmit: submit },
        fields.length ? h('div', { class: fields.length > 2 ? 'fields two' : 'fields' }, fields.map(field)) : null,
        h('div', { class: 'actions' }, h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, go), leave)));
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      done(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
