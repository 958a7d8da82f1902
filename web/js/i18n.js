// Which language, and its words.

const STORED = 'language';
const TAGS = { en: 'en', zh: 'zh-Hans' };
/** Each is a file of its own, and only the one that is read is loaded. */
const WORDS = {
  en: () => import('../words/en.js').then(({ en }) => en),
  zh: () => import('../words/zh.js').then(({ zh }) => zh),
};
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;

class Language extends EventTarget {
  #words = {};
  /** Words of one page alone, which stand before those of all. */
  #own = { en: {}, zh: {} };
  #code = first();
  #wanted = this.#code;
  /** Until then there is nothing to say. */
  ready = this.#load(this.#code);

  get code() {
    return this.#code;
  }

  /** What `lang` calls it. */
  get tag() {
    return TAGS[this.#code];
  }

  /** What `Intl` calls it: the language of the page, with how its reader's region writes dates and money. */
  get locale() {
    return `${this.tag}-${REGION ?? DEFAULT_REGIONS[this.#code]}`;
  }

  /** Adds a part's words: `{en, zh}`. */
  add(words) {
    for (const code of Object.keys(words)) Object.assign(this.#own[code], words[code]);
  }

  /** Changes to another language, once its words are here. */
  async set(code) {
    if (!(code in TAGS)) return;
    this.#wanted = code;
    await this.#load(code);
    if (this.#wanted !== code || code === this.#code) return;
    this.#code = code;
    try {
      localStorage.setItem(STORED, code);
    } catch {
      // Without storage it is chosen again next time.
    }
    this.dispatchEvent(new Event('change'));
  }

  /** Without its words there is no page, so it tries until it has them, or another language is wanted. */
  async #load(code) {
    for (let ms = FIRST_RETRY_MS; !this.#words[code] && this.#wanted === code; ms = Math.min(2 * ms, LONGEST_RETRY_MS)) {
      try {
        this.#words[code] = await WORDS[code]();
      } catch {
        await new Promise((done) => {
          setTimeout(done, ms);
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

function preferred() {
  return navigator.languages?.length ? navigator.languages : [navigator.language ?? 'en'];
}

function first() {
  try {
    const kept = localStorage.getItem(STORED);
    if (kept in TAGS) return kept;
  } catch {
    // No storage: the browser's languages decide.
  }
  return preferred().map((tag) => tag.slice(0, 2).toLowerCase()).find((code) => code in TAGS) ?? 'en';
}

/** The region of the browser's first language that names one, or that one is spoken in mostly; null if none is known. */
function region() {
  const regions = preferred().map((tag) => {
    try {
      const locale = new Intl.Locale(tag);
      return locale.region ?? locale.maximize().region;
    } catch {
      return null;
    }
  });
  return regions.find(Boolean) ?? null;
}

export const language = new Language();

/** The words of a key in the current language. */
export const t = (key, values) => language.say(key, values);
