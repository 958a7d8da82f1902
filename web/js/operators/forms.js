// New sales, campaigns, and who is shut out.

import { clock } from '../clock.js';
import { t } from '../i18n.js';
import { api } from './api.js';

const HOUR_MS = 3_600_000;
const ID = '[a-z0-9][a-z0-9\\-]{0,47}';

/** A moment as the browser's own field for it has it. */
function local(ms) {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const whole = (name, label, value, min, max) => ({ name, label: t(label), type: 'number', value: String(value), min, max, step: 1 });

export function newSale() {
  return {
    question: {
      title: t('op.new'), text: t('op.create.text'), go: t('op.create'),
      fields: [
        { name: 'sale_id', label: t('op.create.id'), pattern: ID, autocapitalize: 'none', autocomplete: 'off' },
        { name: 'title', label: t('op.create.title'), maxlength: 200, autocomplete: 'off' },
        { name: 'opens_at', label: t('op.create.opens'), type: 'datetime-local', value: local(clock.now() + HOUR_MS) },
        { name: 'closes_at', label: t('op.create.closes'), type: 'datetime-local', value: local(clock.now() + 2 * HOUR_MS) },
        whole('total', 'op.create.total', 100, 1, 10_000_000),
        whole('per_user_limit', 'op.create.limit', 1, 1, 20),
        whole('price_minor', 'op.create.price', 990, 0, 1_000_000_000_000),
        { name: 'currency', label: t('op.create.currency'), value: 'EUR', pattern: '[A-Z]{3}', maxlength: 3 },
        whole('payment_window_s', 'op.create.window', 900, 5, 86_400),
      ],
    },
    run: (values) => api.create({
      sale_id: values.sale_id, title: values.title, currency: values.currency,
      opens_at: new Date(values.opens_at).toISOString(), closes_at: new Date(values.closes_at).toISOString(),
      ...Object.fromEntries(['total', 'per_user_limit', 'price_minor', 'payment_window_s'].map((name) => [name, Number(values[name])])),
    }),
  };
}

export function campaign() {
  return {
    question: {
      title: t('op.campaign'), text: t('op.campaign.text'), go: t('op.campaign.go'),
      fields: [
        { name: 'campaign_id', label: t('op.create.id'), pattern: ID, autocapitalize: 'none', autocomplete: 'off' },
        { name: 'title', label: t('op.create.title'), maxlength: 200, autocomplete: 'off' },
        { name: 'sales', label: t('op.campaign.sales'), autocapitalize: 'none', autocomplete: 'off' },
      ],
    },
    async run({ campaign_id, title, sales }) {
      const before = (await api.campaigns()).campaigns.find((one) => one.campaign_id === campaign_id);
      // The version that is to be changed.
      const version = before ? { version: before.version } : {};
      return api.campaign({ campaign_id, title, sale_ids: sales.split(/[\s,]+/).filter(Boolean), ...version });
    },
  };
}

export function denial() {
  return {
    question: {
      title: t('op.deny'), text: t('op.deny.text'), go: t('op.deny'), danger: true,
      fields: [
        { name: 'user', label: t('op.deny.user'), maxlength: 255, autocapitalize: 'none', autocomplete: 'off' },
        whole('hours', 'op.deny.hours', 24, 1, 87_000),
      ],
    },
    run: ({ user, hours }) => api.deny(user, new Date(clock.now() + Number(hours) * HOUR_MS).toISOString()),
  };
}
