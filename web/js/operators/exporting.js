// Saves every order of a round as one file.

import { download } from '../dom.js';
import { again, api } from './api.js';

/** The path of the next page; no other origin and no other route is accepted. */
const NEXT = /^<(\/v1\/admin\/sales\/[^>]+)>; rel="next"$/;

/**
 * An export; there is one at a time. It continues while other screens of this page are open. Calls each `change` listener; `now` is
 * `{sale, round, state, rows, about, problem}`, with the state `running`, `done`, `cancelled` or `failed`.
 */
class Exporting extends EventTarget {
  now = null;
  #stop = null;

  /** Without a round, exports the sale's latest one. */
  async start(sale, round) {
    if (this.now?.state === 'running') return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#tell({ sale, round: round ?? null, state: 'running', rows: 0, about: null, problem: null });
    try {
      await this.#run(sale, round, stop.signal);
    } catch (problem) {
      if (!stop.signal.aborted) this.#tell({ state: 'failed', problem });
    }
  }

  cancel() {
    if (this.now?.state !== 'running') return;
    this.#stop.abort();
    this.#tell({ state: 'cancelled' });
  }

  /** Stops and forgets the export: another user has signed in. */
  forget() {
    this.#stop?.abort();
    this.now = null;
    this.dispatchEvent(new Event('change'));
  }

  async #run(sale, asked, signal) {
    const round = asked ?? (await again(() => api.sale(sale, signal), signal)).round;
    signal.throwIfAborted();
    this.#tell({ round });
    // Each page becomes a part that the browser stores outside the script's memory, possibly on disk. 100,000 rows of about
    // 200 bytes are 20 MB, so streaming to disk, which not every browser supports, is unnecessary.
    const parts = [];
    let page = await again(() => api.exported(sale, round, signal), signal);
    const about = Number(page.headers.get('export-rows-about') ?? 0);
    for (;;) {
      signal.throwIfAborted();
      parts.push(page.file);
      const rows = this.now.rows + Number(page.headers.get('export-rows') ?? 0);
      this.#tell({ rows, about: Math.max(about, rows) });
      const next = NEXT.exec(page.headers.get('link') ?? '')?.[1];
      if (!next) break;
      page = await again(() => api.exportedNext(next, signal), signal);
    }
    download(parts, 'text/csv;charset=utf-8', `orders-${sale}-${round}.csv`);
    this.#tell({ state: 'done' });
  }

  #tell(change) {
    this.now = { ...this.now, ...change };
    this.dispatchEvent(new Event('change'));
  }
}

export const exporting = new Exporting();
