// Helpers for tests of the operators' page.

import { arrive, visit } from './visits.js';

const OPERATOR = { user: 'operator', operator: true, home: '/operators.html' };

/** Opens the operators' page as an operator, without going to a screen, and at one. */
export const desk = (options = {}) => visit({ ...OPERATOR, ...options });
export const operate = (hash = '', options = {}) => arrive(hash, { ...OPERATOR, ...options });

export const tile = (page, name) => page.locator(`.tile.${name} dd`);
export const figure = (page, name) => page.locator('.figures > div', { has: page.getByText(name, { exact: true }) }).locator('dd').textContent();
export const field = (page, name) => page.locator(`.editor [name=${name}]`);
/** The heading of an order has this much of its id. */
export const short = (id) => id.slice(-8).toUpperCase();

export async function write(page, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const control = field(page, name);
    if (await control.evaluate(({ tagName }) => tagName === 'SELECT')) await control.selectOption(value);
    else await control.fill(value);
  }
}

/** The time `ms` from now in the editor's format, in the page's zone. */
export const local = (page, ms) => page.evaluate((after) => {
  const at = new Date(Date.now() + after);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}, ms);

/** Presses the button of an action on a sale, answers its dialog, and confirms. */
export async function act(page, name, fill = async () => {}) {
  await page.locator('.board').getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await fill(dialog);
  await dialog.getByRole('button', { name, exact: true }).click();
}

/** An action that succeeds. */
export async function succeed(page, name, fill) {
  await act(page, name, fill);
  await page.locator('.board .said', { hasText: `Done: ${name}.` }).waitFor();
}
