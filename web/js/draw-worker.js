// Computes a draw anew, in a thread of its own: a million amounts take seconds.

import { BLANK, Shuffle, commitment, digestOf, shuffleKey, tableOf } from './draw.js';

/** Where an award of the table went: the shuffle backwards, each round of which undoes itself. */
function unitOf(shuffle, position) {
  let place = position;
  for (let round = shuffle.pivots.length - 1; round >= 0; round -= 1) {
    place = shuffle.step(place, round, (block) => shuffle.source(round, block));
  }
  return place + 1;
}

onmessage = ({ data: { sale, round, plan, seed, most } }) => {
  const table = tableOf(plan, seed);
  // Prizes come first in the table.
  const winners = [];
  if (plan.kind === 'prizes') {
    const shuffle = new Shuffle(table.length, shuffleKey(seed, null));
    for (let at = 0; at < most && at < table.length && table[at] !== BLANK; at += 1) {
      winners.push({ prize: table[at], unit: unitOf(shuffle, at) });
    }
  }
  const values = Float64Array.from(table);
  postMessage({
    commitment: commitment(sale, round, seed, digestOf(table)), sum: table.reduce((all, one) => all + one, 0), values, winners,
  }, [values.buffer]);
};
