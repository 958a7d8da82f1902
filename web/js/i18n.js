// Which language, and its words.

import { en } from '../words/en.js';
import { zh } from '../words/zh.js';

const STORED = 'language';
const TAGS = { en: 'en', zh: 'zh-Hans' };

class Language extends EventTarget {
  #words = { en: { ...en }, zh: { ...zh } };
  #code = first();

  get code() {
    return this.#code;
  }

  /** What `lang` and `Intl` call it. */
  get tag() {
    return TAGS[this.#code];
  }

  /** Adds a part's words: `{en, zh}`. */
  add(words) {
    for (const code of Object.keys(words)) Object.assign(this.#words[code], words[code]);
  }

  set(code) {
    if (!(code in TAGS) || code === this.#code) return;
    this.#code = code;
    try {
      localStorage.setItem(STORED, code);
    } catch {
      // Without storage it is chosen again next time.
    }
    this.dispatchEvent(new Event('change'));
  }

  say(key, values = {}) {
    const text = this.#words[this.#code][key];
    if (text === undefined) throw new Error(`no words for ${key}`);
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
  }

  has(key) {
    return key in this.#words[this.#code];
  }
}

function first() {
  try {
    const kept = localStorage.getItem(STORED);
    if (kept in TAGS) return kept;
  } catch {
    // No storage: the browser's languages decide.
  }
  const wanted = navigator.languages?.length ? navigator.languages : [navigator.language ?? 'en'];
  return wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((code) => code in TAGS) ?? 'en';
}

export const language = new Language();

/** The words of a key in the current language. */
export const t = (key, values) => language.say(key, values);
