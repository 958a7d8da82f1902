// The language of the page, and its words.

import { backoff } from './timing.js';

const STORED = 'language';
const TAGS = { en: 'en', zh: 'zh-Hans' };
/** One file, which build.js splits into one for each language, so that only the chosen one is loaded. */
const WORDS = { en: () => import('../words/shop.js?en'), zh: () => import('../words/shop.js?zh') };

class Language extends EventTarget {
  #words = {};
  /** Words of one page, which override the common ones. */
  #own = { en: {}, zh: {} };
  #code = first();
  #wanted = this.#code;
  /** Before that, there are no words. */
  ready = this.#load(this.#code);

  /** The value for `lang`. */
  get tag() {
    return TAGS[this.#code];
  }

  /** The locale for `Intl`: the language of the page, with the region of the reader's formats for dates and money. */
  get locale() {
    return `${this.tag}-${REGION ?? DEFAULT_REGIONS[this.#code]}`;
  }

  /** Adds the words of a part: `{en, zh}`. */
  add(words) {
    for (const code of Object.keys(words)) Object.assign(this.#own[code], words[code]);
  }

  /** Switches to another language once its words are loaded. */
  async set(code) {
    this.#wanted = code;
    await this.#load(code);
    if (this.#wanted !== code || code === this.#code) return;
    this.#code = code;
    try {
      localStorage.setItem(STORED, code);
    } catch {
      // Without storage, the choice is lost on reload.
    }
    this.dispatchEvent(new Event('change'));
  }

  /** A page needs its words, so this retries until they are loaded or another language is chosen. */
  async #load(code) {
    for (let failures = 0; !this.#words[code] && this.#wanted === code; failures += 1) {
      try {
        this.#words[code] = (await WORDS[code]()).default;
      } catch {
        await new Promise((done) => {
          setTimeout(done, backoff(failures));
        });
      }
    }
  }

  say(key, values = {}) {
    const text = this.#text(key);
    if (text === undefined) throw new Error(`no words for ${key}`);
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
  }

  has(key) {
    return this.#text(key) !== undefined;
  }

  #text(key) {
    return this.#own[this.#code][key] ?? this.#words[this.#code]?.[key];
  }
}

const DEFAULT_REGIONS = { en: 'GB', zh: 'CN' };
const REGION = region();

function first() {
  try {
    const kept = localStorage.getItem(STORED);
    if (kept in TAGS) return kept;
  } catch {
    // No storage: use the browser's languages.
  }
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((code) => code in TAGS) ?? 'en';
}

/** The region that the browser's language names, or else the one in which it is mostly spoken; null if unknown. */
function region() {
  try {
    return new Intl.Locale(navigator.language).maximize().region ?? null;
  } catch {
    return null;
  }
}

export const language = new Language();

/** The words of a key in the current language. */
export const t = (key, values) => language.say(key, values);
