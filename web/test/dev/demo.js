// Sample sales.

export function demo(sales) {
  const now = Date.now();
  const at = (minutes) => new Date(now + minutes * 60_000).toISOString();
  const sale = (sale_id, title, opens, closes, more = {}) => sales.sales.set(sale_id, {
    sale_id, title, opens_at: at(opens), closes_at: at(closes), total: 20, per_user_limit: 1, price_minor: 18_900, currency: 'EUR',
    payment_window_s: 900, state: 'published', round: 1, version: 2, round_version: 1, paused: false, ...more,
  });
  sale('lamp', 'Enamel pendant lamp', -5, 600, {
    per_user_limit: 2, list_price_minor: 24_900, pictures: ['/art/lamp.svg', '/art/box.svg'], terms_url: 'https://shop.example/terms',
    description: 'Spun steel, enamelled by hand in green.\nFits every E27 bulb; the cable is two metres long.',
  });
  sale('mug', 'Stoneware mug', 114, 600, { price_minor: 2_400 });
  sale('blanket', 'Blanket of lambswool', 190, 900, { price_minor: 12_900 });
  sale('chair', 'Lounge chair in green wool', 26 * 60, 40 * 60, { price_minor: 64_000 });
  sale('pot', 'Teapot, thrown by hand', -600, -10, { price_minor: 7_800 });
  const free = { price_minor: 0, settlement: 'free' };
  sale('packet', 'A red packet for the new year', -5, 600, {
    ...free, total: 100, allocation: { kind: 'split', total_minor: 10_000, min_minor: 1, parts: 'drawn' },
  });
  sale('lucky-tickets', 'Winter draw', -5, 600, {
    ...free, total: 60, allocation: { kind: 'prizes', prizes: [{ name: 'A pendant lamp', count: 2 }, { name: 'A teapot', count: 10 }] },
  });
  sale('old-packet', 'The packet of last week', -600, -10, {
    ...free, total: 50, allocation: { kind: 'split', total_minor: 5_000, min_minor: 50, parts: 'drawn' },
  });
  sales.groups.set('members', new Set(['member']));
  sale('members-lamp', 'Enamel pendant lamp for members', 30, 600, {
    early_access: [{ group: 'members', lead_s: 3_600, quota: { units: 5, for_s: 3_600 } }],
  });
  sale('lantern', 'Paper lantern', -5, 600, { total: 200, rain: { at_once: 5, steady: { units: 3, every_s: 60 } } });
  sale('console', 'Games console', 3, 600, { total: 200, line: { opens_early_s: 3_600, admits_per_s: 20 } });
  sale('stool', 'Three-legged stool', 48 * 60, 50 * 60, { state: 'draft', price_minor: 4_990 });
  for (const one of sales.sales.values()) if (one.state === 'published') sales.commit(one);
  sales.campaigns.set('packets', { campaign_id: 'packets', title: 'Packets and prizes', sale_ids: ['packet', 'lucky-tickets', 'old-packet'] });
  sales.campaigns.set('lamp-days', { campaign_id: 'lamp-days', title: 'Lamp days', sale_ids: ['lamp', 'members-lamp', 'chair', 'lantern'] });
  sales.campaigns.set('chair-week', { campaign_id: 'chair-week', title: 'Sit down, winter', sale_ids: ['chair'] });
  sales.campaigns.set('pot-sunday', { campaign_id: 'pot-sunday', title: 'Teapot Sunday', sale_ids: ['pot'] });
}
