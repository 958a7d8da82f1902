// Requests the data of the first screen before its words are loaded.

import { begin } from './catalog.js';
import { pictureOf } from './pictures.js';

const SCREENS = [
  [/^#?\/?$/, () => '/v1/sales'],
  [/^#\/campaigns\/([a-z0-9-]+)$/, (id) => `/v1/campaigns/${id}`],
  [/^#\/sales\/([a-z0-9-]+)$/, (id) => `/v1/sales/${id}`],
];

/** Starts loading what `hash` shows: its document, then the first picture in it. */
export function beginScreen(hash) {
  const [pattern, path] = SCREENS.find(([one]) => one.test(hash)) ?? [];
  if (!pattern) return;
  begin(path(pattern.exec(hash)[1])).then((found) => {
    const card = (found.sales ?? [found])[0];
    if (card?.sale_id) new Image().src = pictureOf(card).src;
  }, () => {});
}
