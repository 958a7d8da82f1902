// What kind of sale it is.

/** `split`, `prizes` or `units`; of a card, or of a sale as operators see it. */
export function kindOf(sale) {
  return (sale?.draw ?? sale)?.allocation?.kind ?? 'units';
}
