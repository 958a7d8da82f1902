// New sales, campaigns, and who is shut out.

import { clock } from '../clock.js';
import { t } from '../i18n.js';
import { api } from './api.js';
import { earlyFields, earlyOf } from './early.js';
import { rainFields, rainOf } from './rain.js';

const HOUR_MS = 3_600_000;
const ID = '[a-z0-9][a-z0-9\\-]{0,47}';

/** A moment as the browser's own field for it has it. */
function local(ms) {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const whole = (name, label, value, min, max) => ({ name, label: t(label), type: 'number', value: String(value), min, max, step: 1 });

const named = () => [
  { name: 'sale_id', label: t('op.create.id'), pattern: ID, autocapitalize: 'none', autocomplete: 'off' },
  { name: 'title', label: t('op.create.title'), maxlength: 200, autocomplete: 'off' },
  { name: 'opens_at', label: t('op.create.opens'), type: 'datetime-local', value: local(clock.now() + HOUR_MS) },
  { name: 'closes_at', label: t('op.create.closes'), type: 'datetime-local', value: local(clock.now() + 2 * HOUR_MS) },
];
const currency = () => ({ name: 'currency', label: t('op.create.currency'), value: 'EUR', pattern: '[A-Z]{3}', maxlength: 3 });

/** What every kind of sale has. */
const common = (values) => ({
  sale_id: values.sale_id, title: values.title, currency: values.currency, total: Number(values.total),
  opens_at: new Date(values.opens_at).toISOString(), closes_at: new Date(values.closes_at).toISOString(),
});

/** What is given away and drawn: one for each person, final at once. */
const drawn = (values, allocation) => ({
  ...common(values), per_user_limit: 1, price_minor: 0, payment_window_s: 900, settlement: 'free', allocation,
});

/** What is sold, or given away as it is. */
const goods = () => [
  ...named(),
  whole('total', 'op.create.total', 100, 1, 10_000_000),
  whole('per_user_limit', 'op.create.limit', 1, 1, 20),
  whole('price_minor', 'op.create.price', 990, 0, 1_000_000_000_000),
  currency(),
  whole('payment_window_s', 'op.create.window', 900, 5, 86_400),
  { name: 'settlement', label: t('op.create.settlement'), value: 'paid', options: [['paid', t('op.create.paid')], ['free', t('op.create.free')]] },
];
const sold = (values) => ({
  ...common(values), settlement: values.settlement,
  ...Object.fromEntries(['per_user_limit', 'price_minor', 'payment_window_s'].map((name) => [name, Number(values[name])])),
});

/** Whether a round of drand decides as well who wins what. */
const beacon = () => (
  { name: 'beacon', label: t('op.create.beacon'), value: 'no', options: [['no', t('op.create.beacon.no')], ['yes', t('op.create.beacon.yes')]] }
);
const withBeacon = (values) => (values.beacon === 'yes' ? { beacon: true } : {});

/** An amount of money that is split. */
export function newPacket() {
  return {
    question: {
      title: t('op.new_packet'), text: t('op.create_packet.text'), go: t('op.create'),
      fields: [
        ...named(),
        whole('total_minor', 'op.create.amount', 10_000, 1, 1_000_000_000_000),
        currency(),
        whole('total', 'op.create.parts', 100, 1, 1_000_000),
        whole('min_minor', 'op.create.min', 1, 1, 1_000_000_000_000),
        { name: 'parts', label: t('op.create.how'), value: 'drawn', options: [['drawn', t('op.create.drawn')], ['equal', t('op.create.equal')]] },
        beacon(),
      ],
    },
    run: (values) => api.create(drawn(values, {
      kind: 'split', total_minor: Number(values.total_minor), min_minor: Number(values.min_minor), parts: values.parts, ...withBeacon(values),
    })),
  };
}

/** The prizes of a text: one a line, its count first. */
function prizesOf(text) {
  return text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const [, count, name] = /^(\d+)\s*[×x*]?\s+(.+)$/.exec(line) ?? [];
    // A count that is none is for the system to refuse, which says why.
    return { name: name ?? line, count: Number(count ?? 0) };
  });
}

/** Tickets that win at once, or entries among which prizes are drawn at the end. */
export function newPrizes() {
  return {
    question: {
      title: t('op.new_prizes'), text: t('op.create_prizes.text'), go: t('op.create'),
      fields: [
        ...named(), whole('total', 'op.create.tickets', 1_000, 1, 1_000_000), currency(),
        { name: 'draw', label: t('op.create.draw'), value: 'instant', options: [['instant', t('op.create.instant')], ['at_end', t('op.create.at_end')]] },
        beacon(),
        { name: 'prizes', label: t('op.create.prizes'), lines: 4, value: t('op.create.prizes.example') },
      ],
    },
    run: ({ draw, ...values }) => api.create(drawn(values, {
      kind: 'prizes', prizes: prizesOf(values.prizes), ...(draw === 'at_end' ? { draw } : {}), ...withBeacon(values),
    })),
  };
}

/** A sale whose units become available over time. */
export function newRain() {
  return {
    question: {
      title: t('op.new_rain'), text: t('op.create_rain.text'), go: t('op.create'),
      fields: [...goods(), ...rainFields()],
    },
    run: (values) => api.create({ ...sold(values), rain: rainOf(values) }),
  };
}

/** A sale that a group may buy from before everyone else. */
export function newEarly() {
  return {
    question: {
      title: t('op.new_early'), text: t('op.create_early.text'), go: t('op.create'),
      fields: [...goods(), ...earlyFields()],
    },
    run: (values) => api.create({ ...sold(values), early_access: earlyOf(values) }),
  };
}

export function newSale() {
  return {
    question: {
      title: t('op.new'), text: t('op.create.text'), go: t('op.create'),
      fields: goods(),
    },
    run: (values) => api.create(sold(values)),
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
