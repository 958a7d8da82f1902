// The list of sales: all published ones, or those of one campaign.

import { list, stateNow } from '../catalog.js';
import { clock } from '../clock.js';
import { h } from '../dom.js';
import { whoWhen } from '../early.js';
import { clockFace, moment } from '../format.js';
import { t } from '../i18n.js';
import { empty, picture, price, problemWords, rainInList, saleBadge, skeleton, trouble } from '../parts.js';
import { tellApart } from '../pictures.js';
import { everySecond, refreshing } from '../timing.js';
import { View } from './view.js';

const REFRESH_MS = 20_000;
/** A sale that opens later is shown with its date instead of a countdown. */
const COUNTED_MS = 86_400_000;
/** Number of cards that most screens show at once. */
const AT_ONCE = 4;

/** When the sale opens or closes, in one line. */
function when(card, state) {
  const opens = Date.parse(card.opens_at);
  const left = opens - clock.now();
  if (state === 'closed') return t('list.over', { at: moment(card.closes_at) });
  if (state === 'upcoming' || state === 'early') return left < COUNTED_MS ? t('list.opens_in', { left: clockFace(left) }) : t('list.opens', { at: moment(opens) });
  return state === 'preparing' ? t('list.preparing') : t('list.open', { at: moment(card.closes_at) });
}

/** All sales, or those of a campaign: a list that is reloaded regularly, and rendered again when it has changed. */
export class SalesView extends View {
  #campaign;
  /** `{title, sales, campaigns}`. */
  #found = null;
  #problem = null;
  #shown = null;
  /** The lines that are updated every second: `{card, state, line}`. */
  #lines = [];

  constructor(main, campaign) {
    super(main);
    this.#campaign = campaign;
    this.render();
    refreshing(() => this.#load(), () => REFRESH_MS, this.signal);
    everySecond(() => 0, () => this.#tick(), this.signal);
  }

  get title() {
    return this.#found?.title ?? t('sales.title');
  }

  async #load() {
    try {
      this.#found = await list(this.#campaign, this.signal);
      this.#problem = null;
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error;
    }
    const { sales, campaigns } = this.#found ?? {};
    const now = JSON.stringify([this.title, campaigns, sales, sales ? null : this.#problem?.code]);
    if (now !== this.#shown) this.render();
    this.#shown = now;
  }

  #tick() {
    if (this.#lines.some(({ card, state }) => stateNow(card) !== state)) {
      this.render();
      return;
    }
    for (const { card, state, line } of this.#lines) {
      const text = when(card, state);
      if (line.textContent !== text) line.textContent = text;
    }
  }

  render() {
    this.#lines = [];
    this.putAll((heading) => [...this.#head(heading), this.#body()]);
  }

  #head(heading) {
    if (this.#campaign) return [h('a', { class: 'back', href: '#/', 'data-keep': 'back' }, t('back')), heading];
    const link = (id, title) => h('a', { href: `#/campaigns/${id}`, 'data-keep': `campaign ${id}` }, title);
    const links = (this.#found?.campaigns ?? []).map(({ campaign_id: id, title }) => h('li', {}, link(id, title)));
    return [heading, h('p', { class: 'lead' }, t('sales.lead')),
      links.length ? h('nav', { class: 'campaigns', 'aria-label': t('nav.campaigns') }, h('ul', {}, links)) : null];
  }

  #body() {
    const { sales } = this.#found ?? {};
    if (sales?.length) {
      tellApart(sales);
      return h('ul', { class: 'cards' }, sales.map((card, index) => h('li', {}, this.#card(card, index))));
    }
    if (sales) return this.#campaign ? empty(t('missing.title'), t('campaign.none')) : empty(t('sales.none.title'), t('sales.none.text'));
    if (!this.#problem) return h('div', { class: 'cards' }, skeleton('card'), skeleton('card'), skeleton('card'));
    return trouble(problemWords(this.#problem), () => this.#load());
  }

  #card(card, index) {
    const state = stateNow(card);
    const who = whoWhen(card, state);
    const line = h('p', { class: 'when' }, when(card, state));
    this.#lines.push({ card, state, line });
    return h('a', { class: `card ${state}`, href: `#/sales/${card.sale_id}`, 'data-keep': `sale ${card.sale_id}` },
      picture(card, 'wide', index < AT_ONCE),
      h('div', { class: 'card-body' },
        saleBadge(card), h('h2', {}, card.title), price(card),
        card.rain ? h('p', { class: 'rain' }, rainInList(card, state)) : null,
        who === null ? null : h('p', { class: 'early' }, who), line));
  }
}
