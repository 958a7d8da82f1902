// Words of one part in both languages, side by side: `{key: [English, Chinese]}`.

/** The words by language. */
export function both(pairs) {
  const of = (at) => Object.fromEntries(Object.entries(pairs).map(([key, texts]) => [key, texts[at]]));
  return { en: of(0), zh: of(1) };
}
