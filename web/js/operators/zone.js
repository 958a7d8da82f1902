// Moments as the clocks of a time zone show them.

const formats = new Map();

function format(zone) {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
    }));
  }
  return formats.get(zone);
}

/** The zone of this browser. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function isZone(zone) {
  try {
    return Boolean(format(zone));
  } catch {
    return false;
  }
}

/** All zones by name, where the browser tells them. */
export const zones = () => Intl.supportedValuesOf?.('timeZone') ?? [];

/** What a moment is called in a zone, as UTC would have it: the zone's clock, in ms. */
function clockOf(ms, zone) {
  const part = Object.fromEntries(format(zone).formatToParts(new Date(ms)).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
}

/** A moment as the browser's own field has it, to the minute: `2026-11-24T10:00`. */
export function localOf(ms, zone) {
  return new Date(clockOf(ms, zone)).toISOString().slice(0, 16);
}

/**
 * The moment at which the clocks of a zone show `text`, in ms; the first one, where they do so twice. Null of what is no time, or
 * one that the clocks there leap over.
 */
export function instantOf(text, zone) {
  const wanted = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted) || !isZone(zone)) return null;
  const day = 86_400_000;
  const offsets = [wanted - day, wanted, wanted + day].map((at) => clockOf(at, zone) - at);
  const found = [...new Set(offsets)].map((offset) => wanted - offset).filter((at) => clockOf(at, zone) === wanted);
  return found.length ? Math.min(...found) : null;
}
