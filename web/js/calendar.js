// The opening of a sale as a calendar event (RFC 5545), made in the page.

import { download } from './dom.js';

/** How long before the opening the calendar reminds the user. */
const REMINDS_MIN = 5;
/** An event needs an end; most of a sale happens at once. */
const LASTS_MS = 15 * 60_000;
const LINE_BYTES = 74;

const stamp = (ms) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
const escaped = (text) => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');

/** Folds long lines: they continue on the next one after a space. Breaks between characters, never within one. */
function folded(line) {
  const encoder = new TextEncoder();
  const parts = [''];
  let bytes = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    if (bytes + size > LINE_BYTES) {
      parts.push(' ');
      bytes = 1;
    }
    parts.push(parts.pop() + character);
    bytes += size;
  }
  return parts.join('\r\n');
}

/** The file's text for the sale of a card whose page is at `url`. */
export function calendarOf({ sale_id: sale, round, title, opens_at: opensAt, closes_at: closesAt }, url, now) {
  const opens = Date.parse(opensAt);
  const lines = [
    'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Daybreak//Shop//EN', 'BEGIN:VEVENT',
    `UID:${sale}.${round}@${new URL(url).hostname}`, `DTSTAMP:${stamp(now)}`, `DTSTART:${stamp(opens)}`,
    `DTEND:${stamp(Math.min(opens + LASTS_MS, Date.parse(closesAt)))}`, `SUMMARY:${escaped(title)}`, `URL:${url}`,
    'BEGIN:VALARM', 'ACTION:DISPLAY', `DESCRIPTION:${escaped(title)}`, `TRIGGER:-PT${REMINDS_MIN}M`, 'END:VALARM',
    'END:VEVENT', 'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

/** Lets the browser save the event. */
export function saveCalendar(card, now) {
  download([calendarOf(card, location.href, now)], 'text/calendar', `${card.sale_id}.ics`);
}
