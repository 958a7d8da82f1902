// The kinds of sales.

/** `split`, `prizes` or `units`, for a card or for an operator's sale. */
export function kindOf(sale) {
  return (sale?.draw ?? sale)?.allocation?.kind ?? 'units';
}
