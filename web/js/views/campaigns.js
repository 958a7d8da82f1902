// What is on sale: the list of campaigns, and one campaign's sales.

import { campaign, campaigns, stateNow } from '../catalog.js';
import { clock } from '../clock.js';
import { h } from '../dom.js';
import { whoWhen } from '../early.js';
import { moment } from '../format.js';
import { t } from '../i18n.js';
import { badge, button, empty, picture, price, problemWords, rainInList, saleBadge, skeleton } from '../parts.js';
import { refreshing } from '../timing.js';
import { View } from './view.js';

const REFRESH_MS = 10_000;

/** How it stands by the clock, and until when. */
function when({ opens_at: opens, closes_at: closes }) {
  const now = clock.now();
  if (now < Date.parse(opens)) return { state: 'upcoming', text: t('campaign.opens', { at: moment(opens) }) };
  if (now < Date.parse(closes)) return { state: 'open', text: t('campaign.open', { at: moment(closes) }) };
  return { state: 'closed', text: t('campaign.over', { at: moment(closes) }) };
}

/** A list that is loaded again and again, and shown anew when it differs. */
class ListView extends View {
  #items = null;
  #problem = null;
  #shown = null;

  constructor(main, id) {
    super(main);
    this.id = id;
    this.render();
    refreshing(() => this.#load(), () => REFRESH_MS, this.signal);
  }

  async #load() {
    try {
      this.#items = await this.load();
      this.#problem = null;
    } catch (error) {
      if (this.signal.aborted) return;
      this.#problem = error;
    }
    const now = JSON.stringify([this.#items, this.#items ? null : this.#problem?.code]);
    if (now !== this.#shown) this.render();
    this.#shown = now;
  }

  render() {
    document.title = `${this.title} · ${t('brand')}`;
    const active = document.activeElement;
    const at = this.main.contains(active) ? active.getAttribute('href') ?? active.tagName : null;
    this.main.replaceChildren(...this.head(), this.#body());
    if (at) this.main.querySelector(at === 'H1' ? 'h1' : `[href="${at}"]`)?.focus({ preventScroll: true });
  }

  #body() {
    if (this.#items?.length) return h('ul', { class: 'cards' }, this.#items.map((item) => h('li', {}, this.card(item))));
    if (this.#items) return this.none();
    if (!this.#problem) return h('div', { class: 'cards' }, skeleton('card'), skeleton('card'), skeleton('card'));
    const { title, text } = problemWords(this.#problem);
    return empty(title, text, button(t('retry'), () => this.#load(), { class: 'secondary' }));
  }
}

export class CampaignsView extends ListView {
  get title() {
    return t('campaigns.title');
  }

  load() {
    return campaigns(this.signal);
  }

  head() {
    return [h('h1', { tabindex: '-1' }, t('campaigns.title')), h('p', { class: 'lead' }, t('campaigns.lead'))];
  }

  card({ campaign_id: id, title, ...times }) {
    const { state, text } = when(times);
    return h('a', { class: 'card', href: `#/campaigns/${id}` },
      picture({ sale_id: id }, 'wide'),
      h('div', { class: 'card-body' },
        badge(state, t(`state.${state}`)), h('h2', {}, title), h('p', { class: 'quiet' }, text)));
  }

  none() {
    return empty(t('campaigns.none.title'), t('campaigns.none.text'));
  }
}

export class CampaignView extends ListView {
  get title() {
    return this.name ?? t('campaigns.title');
  }

  async load() {
    const { title, sales } = await campaign(this.id, this.signal);
    this.name = title;
    return sales;
  }

  head() {
    return [h('a', { class: 'back', href: '#/' }, t('back')), h('h1', { tabindex: '-1' }, this.title)];
  }

  card(sale) {
    const who = whoWhen(sale, stateNow(sale));
    return h('a', { class: 'card', href: `#/sales/${sale.sale_id}` },
      picture(sale, 'wide'),
      h('div', { class: 'card-body' },
        saleBadge(sale), h('h2', {}, sale.title),
        price(sale),
        sale.rain ? h('p', { class: 'rain' }, rainInList(sale, stateNow(sale))) : null,
        who === null ? null : h('p', { class: 'early' }, who),
        h('p', { class: 'quiet' }, when(sale).text)));
  }

  none() {
    return empty(t('missing.title'), t('campaign.none'));
  }
}
