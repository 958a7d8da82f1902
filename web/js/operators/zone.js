// Times by the clocks of a time zone.

const format = (zone) => new Intl.DateTimeFormat('en-US', {
  timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
});

/** The browser's zone. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function isZone(zone) {
  try {
    return Boolean(format(zone));
  } catch {
    return false;
  }
}

/** The names of all zones, if the browser lists them. */
export const zones = () => Intl.supportedValuesOf?.('timeZone') ?? [];

/** The local time of a zone, as ms since the epoch as if it were UTC. */
function clockOf(ms, zone) {
  const part = Object.fromEntries(format(zone).formatToParts(new Date(ms)).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
}

/** A time in the format of the browser's own field, to the minute: `2026-11-24T10:00`. */
export const localOf = (ms, zone) => new Date(clockOf(ms, zone)).toISOString().slice(0, 16);

/** The time at which a zone's clocks show `text`, in ms; the first one if they do so twice. Null if invalid, or if the clocks skip it. */
export function instantOf(text, zone) {
  const wanted = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted) || !isZone(zone)) return null;
  const day = 86_400_000;
  const offsets = [wanted - day, wanted, wanted + day].map((at) => clockOf(at, zone) - at);
  const found = [...new Set(offsets)].map((offset) => wanted - offset).filter((at) => clockOf(at, zone) === wanted);
  return found.length ? Math.min(...found) : null;
}
