// The frame of every screen: header, footer, languages, the user, and whether the network is available.

import logo from '../favicon.svg';
import { clock } from './clock.js';
import { contactKnown, contactLink } from './contact.js';
import { h, replace } from './dom.js';
import { language, t } from './i18n.js';
import { session } from './session.js';

const LANGUAGES = [['en', 'English', 'EN'], ['zh-Hans', '中文', '中文']];

class Frame {
  #links = [];
  #path = '';
  #bare = false;
  #tools = () => [];

  /** `tools` makes further parts of the header, for example on the operators' page. `follow` is called when the address asks for another screen. */
  start({ links, follow, tools = this.#tools }) {
    [this.#links, this.#tools] = [links, tools];
    session.addEventListener('change', () => this.render());
    language.addEventListener('change', () => this.render());
    document.addEventListener('visibilitychange', () => document.hidden || clock.forget());
    window.addEventListener('hashchange', (event) => {
      // The skip link to the content is not a screen.
      if (new URL(event.newURL).hash !== '#main') follow();
    });
    for (const event of ['online', 'offline']) window.addEventListener(event, () => this.#network());
    contactKnown.then(() => this.render());
    this.render();
    this.#network();
  }

  /** Marks the current screen in the navigation. With `bare`, there is none, but its room stays: nothing below moves. */
  at(path, bare = false) {
    this.#path = path;
    this.#bare = bare;
    this.render();
  }

  /** Renders header and footer, also after the tools have changed. */
  render() {
    document.documentElement.lang = language.tag;
    document.getElementById('skip').textContent = t('skip');
    replace(document.getElementById('header'), h('div', { class: 'bar' },
      h('a', { class: 'brand', href: '#/', 'data-keep': 'brand' },
        h('img', { src: logo, alt: '', width: 28, height: 28 }), h('span', {}, t('brand'))),
      this.#navigation(),
      h('div', { class: 'tools' }, this.#tools(), this.#languages(), this.#who())));
    document.getElementById('footer').replaceChildren(h('p', {}, t('footer'), ' ', contactLink() ?? ''));
  }

  #navigation() {
    const links = this.#links.map(([path, name]) => h('a', {
      href: `#/${path}`, 'data-keep': name, 'aria-current': path === this.#path ? 'page' : null,
    }, t(name)));
    return this.#bare ? h('div', { class: 'navigation absent' }, links) : h('nav', { class: 'navigation', 'aria-label': t('nav') }, links);
  }

  #languages() {
    return h('div', { class: 'languages', role: 'group', 'aria-label': t('nav.language') },
      LANGUAGES.map(([tag, name, short]) => h('button', {
        type: 'button', lang: tag, 'aria-label': name === short ? null : `${short} – ${name}`, 'aria-pressed': String(tag === language.tag),
        'data-keep': tag, onclick: () => language.set(tag.slice(0, 2)),
      }, short)));
  }

  #who() {
    const user = session.current?.user;
    const who = { type: 'button', class: 'who', 'data-keep': 'who' };
    if (!user) return h('button', { ...who, onclick: () => session.offer() }, t('sign.in'));
    return h('button', { ...who, title: t('sign.as', { user }), onclick: () => session.set(null) }, t('sign.out'), h('span', { class: 'name' }, user));
  }

  #network() {
    document.getElementById('notice').textContent = navigator.onLine ? '' : t('offline');
  }
}

export const frame = new Frame();
