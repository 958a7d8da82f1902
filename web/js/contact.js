// How buyers reach a person, if the deployment has set an address.

import { config } from './config.js';
import { h } from './dom.js';
import { t } from './i18n.js';

/** An email address or a page; any other setting gives no link. */
const ADDRESS = /^(?:https:\/\/|mailto:)/;
let address = null;

/** Reads the address once the settings have been loaded. */
export const contactKnown = config().then(({ contact }) => {
  if (ADDRESS.test(contact ?? '')) address = contact;
}, () => {});

/** A link to the contact, or null if there is none. */
export const contactLink = () => address && h('a', { href: address }, t('contact'));

/** A line that asks to write if something seems wrong; empty without an address. */
export function contactLine() {
  const line = h('p', { class: 'contact' });
  contactKnown.then(() => line.replaceChildren(...[contactLink()].filter(Boolean)));
  return line;
}
