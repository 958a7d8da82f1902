// What this browser stores.

/** Longer than an order waits for its payment, and than a round or a line lasts. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** The stored value; null if there is none, or if it is unreadable. */
export function stored(place, area = 'localStorage') {
  try {
    return JSON.parse(window[area].getItem(place));
  } catch {
    return null;
  }
}

/** Stores a value under `name`, and forgets old ones whose names begin with `kind`. */
export function store(kind, name, value) {
  for (const place of Object.keys(localStorage).filter((one) => one.startsWith(kind))) {
    if (!(Date.now() - stored(place)?.at < KEPT_MS)) localStorage.removeItem(place);
  }
  localStorage.setItem(name, JSON.stringify({ ...value, at: Date.now() }));
}
