// Computes a draw again in a worker: a million amounts take seconds.

import { BLANK, Shuffle, commitment, digestOf, rootOfHashes, shuffleKey, tableOf } from './draw.js';

/** The position of an award of the table: the shuffle backwards, each round of which is its own inverse. */
function unitOf(shuffle, position) {
  let place = position;
  for (let round = shuffle.pivots.length - 1; round >= 0; round -= 1) place = shuffle.step(place, round);
  return place + 1;
}

/** `draw` is the public document; `entries` are the leaves of a draw at the end, which then has as many tickets, and null for any other. */
async function computed({ draw, plan, most, entries }) {
  const { sale_id: sale, round, seed, beacon } = draw;
  const signed = beacon ? (await import('./drand.js')).holds(draw) : null;
  const table = tableOf(plan, seed);
  const drawn = entries ? tableOf({ ...plan, tickets: entries.length }, seed) : table;
  // Prizes come first in the table.
  const winners = [];
  if (plan.kind === 'prizes') {
    const shuffle = new Shuffle(drawn.length, shuffleKey(seed, beacon?.randomness ?? null));
    for (let at = 0; at < most && at < drawn.length && drawn[at] !== BLANK; at += 1) {
      winners.push({ prize: drawn[at], unit: unitOf(shuffle, at) });
    }
  }
  const values = Float64Array.from(drawn);
  postMessage({
    commitment: commitment(sale, round, seed, digestOf(table)), sum: drawn.reduce((all, one) => all + one, 0), values, winners,
    signed, root: entries ? rootOfHashes(entries) : null,
  }, [values.buffer]);
}

onmessage = ({ data }) => {
  // Passes the error to the page; otherwise its promise would never settle.
  computed(data).catch((error) => setTimeout(() => { throw error; }));
};
