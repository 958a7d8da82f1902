// Campaigns: which sales the shop shows together, and in which order.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { button, empty } from '../parts.js';
import { api } from './api.js';
import { asking } from './dialog.js';
import { listing } from './listing.js';
import { Screen } from './screen.js';
import { idOf } from './terms.js';

const COLUMNS = [['op.campaign.name'], ['op.form.sale_id'], ['op.nav.sales'], [null, 'act']];
const ID = '[a-z0-9][a-z0-9\\-]{0,47}';

export class Campaigns extends Screen {
  /** A sale to add. */
  #sale;
  #campaigns = null;

  constructor(place, query, signal) {
    super(place, signal);
    this.#sale = new URLSearchParams(query).get('sale') ?? '';
    this.build();
    this.load();
  }

  load() {
    return this.loading(async () => {
      this.#campaigns = (await api.campaigns(this.signal)).campaigns;
    });
  }

  build() {
    this.place.replaceChildren(
      h('div', { class: 'board-head' }, h('h1', { tabindex: '-1' }, t('op.nav.campaigns')),
        button(t('op.campaign.new'), () => this.#edit(null), { class: 'primary' })),
      h('p', { class: 'lead' }, this.#sale ? t('op.campaign.adding', { id: this.#sale }) : t('op.campaign.lead')), this.said, this.results);
    this.fill();
  }

  fill() {
    const link = (id) => h('a', { href: `#/sales/${id}` }, id);
    const row = (one) => [
      one.title, one.campaign_id, h('span', { class: 'ids' }, one.sale_ids.flatMap((id, at) => (at ? [', ', link(id)] : [link(id)]))),
      button(t(this.#sale && !one.sale_ids.includes(this.#sale) ? 'op.campaign.add' : 'op.edit'), () => this.#edit(one), {
        class: 'secondary', 'data-keep': one.campaign_id, 'aria-label': `${t('op.edit')}: ${one.title}`,
      }),
    ];
    const table = () => listing(t('op.nav.campaigns'), COLUMNS, this.#campaigns.map(row));
    this.list(this.#campaigns, table, empty(t('op.campaign.none.title'), t('op.campaign.none.text')));
  }

  /** Changes or creates a campaign. A change applies to the version that was shown. */
  async #edit(before) {
    const sales = [...(before?.sale_ids ?? []), ...(this.#sale && !before?.sale_ids.includes(this.#sale) ? [this.#sale] : [])];
    const name = before ? { value: before.campaign_id, readonly: true } : { pattern: ID };
    const question = {
      title: t(before ? 'op.edit' : 'op.campaign.new'), text: t('op.campaign.text'), go: t('op.form.save'),
      fields: [
        { name: 'title', label: t('op.form.title'), maxlength: 200, autocomplete: 'off', value: before?.title ?? '' },
        { name: 'campaign_id', label: t('op.create.id'), required: false, autocapitalize: 'none', autocomplete: 'off', ...name },
        { name: 'sales', label: t('op.campaign.sales'), lines: 3, autocapitalize: 'none', spellcheck: 'false', value: sales.join('\n') },
        { name: 'limit', label: t('op.campaign.limit'), type: 'number', min: 1, max: 100, step: 1, required: false, value: String(before?.limit_per_user ?? '') },
      ],
    };
    const run = async ({ campaign_id: id, title, sales: listed, limit }) => {
      const more = { ...(before ? { version: before.version } : {}), ...(limit ? { limit_per_user: Number(limit) } : {}) };
      return api.campaign({ campaign_id: id || idOf(title), title, sale_ids: listed.split(/[\s,]+/).filter(Boolean), ...more });
    };
    if (await asking(question, run, this.say) === null) return;
    this.#sale = '';
    await this.load();
  }
}
