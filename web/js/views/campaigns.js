// The list of sales: all published ones, or those of one campaign.

import { campaign, front, stateNow } from '../catalog.js';
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

/** A list that is reloaded regularly, and rendered again when it has changed. */
class ListView extends View {
  #items = null;
  #problem = null;
  #shown = null;
  /** The lines that are updated every second: `{card, state, line}`. */
  #lines = [];

  constructor(main, id) {
    super(main);
    this.id = id;
    this.render();
    refreshing(() => this.#load(), () => REFRESH_MS, this.signal);
    everySecond(() => 0, () => this.#tick(), this.signal);
  }

  async #load() {
    try {
      this.#items = await this.load();
      this.#problem = null;
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error;
    }
    const now = JSON.stringify([this.title, this.campaigns, this.#items, this.#items ? null : this.#problem?.code]);
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
    document.title = `${this.title} · ${t('brand')}`;
    const active = document.activeElement;
    const at = this.main.contains(active) ? active.getAttribute('href') ?? active.tagName : null;
    this.#lines = [];
    this.main.replaceChildren(...this.head().filter(Boolean), this.#body());
    if (at) this.main.querySelector(at === 'H1' ? 'h1' : `[href="${at}"]`)?.focus({ preventScroll: true });
  }

  #body() {
    if (this.#items?.length) {
      tellApart(this.#items);
      return h('ul', { class: 'cards' }, this.#items.map((item, index) => h('li', {}, this.#card(item, index))));
    }
    if (this.#items) return this.none();
    if (!this.#problem) return h('div', { class: 'cards' }, skeleton('card'), skeleton('card'), skeleton('card'));
    return trouble(problemWords(this.#problem), () => this.#load());
  }

  #card(card, index) {
    const state = stateNow(card);
    const who = whoWhen(card, state);
    const line = h('p', { class: 'when' }, when(card, state));
    this.#lines.push({ card, state, line });
    return h('a', { class: `card ${state}`, href: `#/sales/${card.sale_id}` },
      picture(card, 'wide', index < AT_ONCE),
      h('div', { class: 'card-body' },
        saleBadge(card), h('h2', {}, card.title), price(card),
        card.rain ? h('p', { class: 'rain' }, rainInList(card, state)) : null,
        who === null ? null : h('p', { class: 'early' }, who), line));
  }
}

/** All sales, in a campaign or not. */
export class SalesView extends ListView {
  get title() {
    return t('sales.title');
  }

  async load() {
    const { sales, campaigns } = await front(this.signal);
    this.campaigns = campaigns;
    return sales;
  }

  head() {
    const links = (this.campaigns ?? []).map(({ campaign_id: id, title }) => h('li', {}, h('a', { href: `#/campaigns/${id}` }, title)));
    return [h('h1', { tabindex: '-1' }, this.title), h('p', { class: 'lead' }, t('sales.lead')),
      links.length ? h('nav', { class: 'campaigns', 'aria-label': t('nav.campaigns') }, h('ul', {}, links)) : null];
  }

  none() {
    return empty(t('sales.none.title'), t('sales.none.text'));
  }
}

export class CampaignView extends ListView {
  get title() {
    return this.name ?? t('sales.title');
  }

  async load() {
    const { title, sales } = await campaign(this.id, this.signal);
    this.name = title;
    return sales;
  }

  head() {
    return [h('a', { class: 'back', href: '#/' }, t('back')), h('h1', { tabindex: '-1' }, this.title)];
  }

  none() {
    return empty(t('missing.title'), t('campaign.none'));
  }
}
