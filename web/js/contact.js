// How buyers reach a person, if the deployment says so.

import { config } from './config.js';
import { h } from './dom.js';
import { t } from './i18n.js';

/** An address to write to or a page; anything else in the settings is no link. */
const ADDRESS = /^(?:https:\/\/|mailto:)/;
let address = null;

/** Knows the address, once the settings are here. */
export const contactKnown = config().then(({ contact }) => {
  if (ADDRESS.test(contact ?? '')) address = contact;
}, () => {});

/** A link to a person, or null if there is none. */
export function contactLink(attributes = {}) {
  return address && h('a', { href: address, ...attributes }, t('contact'));
}

/** A line that asks to write if something seems wrong; empty without an address. */
export function contactLine() {
  const line = h('p', { class: 'contact' });
  contactKnown.then(() => line.replaceChildren(...[contactLink()].filter(Boolean)));
  return line;
}
