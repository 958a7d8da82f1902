// Small helpers for the DOM. No inline styles or scripts: the page's policy forbids both.

/** Makes an element. `on*` are listeners, `true` is an empty attribute; false, null and undefined are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Shows other children in `place`. The focus stays on what has the same `data-keep`. */
export function replace(place, ...children) {
  const kept = place.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
  place.replaceChildren(...children.filter(Boolean));
  if (kept) place.querySelector(`[data-keep="${CSS.escape(kept)}"]`)?.focus({ preventScroll: true });
}

/** How long a browser may take to start saving. */
const SAVING_MS = 60_000;

/** Lets the browser save a file of these parts. */
export function download(parts, type, name) {
  const href = URL.createObjectURL(new Blob(parts, { type }));
  h('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), SAVING_MS);
}

const seen = { polite: '', assertive: '' };

/** Lets a screen reader announce the text, without moving the focus. A repeated text is announced once. */
export function announce(text, how = 'polite') {
  if (seen[how] === text) return;
  seen[how] = text;
  document.getElementById(`say-${how}`).textContent = text;
}
