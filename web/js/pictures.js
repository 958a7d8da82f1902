// The picture of a sale: its own, or a drawing.

/** Drawings for sales without an item. */
const OF_KINDS = { split: 'packet', prizes: 'tickets' };
/** Drawings of items, for a sale whose id names one. */
const NAMED = ['lamp', 'chair', 'pot'];
/** Drawings that fit any item. Their background colours are `.tint-1` and on in style.css. */
const PLAIN = ['parcel', 'bag', 'box'];
const TINTS = 6;
const ALL = PLAIN.length * TINTS;

/** The plain drawings of sales that have been shown side by side. */
const given = new Map();

/** `split`, `prizes` or `units`, for a card or for an operator's sale. */
export const kindOf = (sale) => (sale?.draw ?? sale)?.allocation?.kind ?? 'units';

const hash = (id) => Array.from(id).reduce((all, letter) => (all * 31 + letter.codePointAt(0)) % 65_521, 7);
// The next number has another drawing; the third next has another colour.
const combination = (number) => ({ name: PLAIN[number % PLAIN.length], tint: Math.floor(number / PLAIN.length) % TINTS });

/** `{src}` of a sale's own picture, or `{src, name, tint}` of a drawing. */
export function pictureOf({ sale_id: id, picture, ...card }) {
  if (picture) return { src: picture };
  const name = OF_KINDS[kindOf(card)] ?? NAMED.find((one) => id.split('-').includes(one));
  const drawing = name ? { name, tint: 0 } : combination(given.get(id) ?? hash(id) % ALL);
  return { ...drawing, src: `/art/${drawing.name}.svg` };
}

/** Gives the sales of a page different drawings, as long as there are enough. */
export function tellApart(cards) {
  const plain = cards.filter((card) => PLAIN.includes(pictureOf(card).name)).map((card) => card.sale_id);
  const taken = new Set(plain.filter((id) => given.has(id)).map((id) => given.get(id)));
  for (const id of plain.filter((one) => !given.has(one))) {
    let number = hash(id) % ALL;
    for (let tries = 0; tries < ALL && taken.has(number); tries += 1) number = (number + 1) % ALL;
    taken.add(number);
    given.set(id, number);
  }
}
