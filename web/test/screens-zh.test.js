import { expect, test } from 'vitest';
import { shopWords } from '../words/shop.js';
import { everyScreen } from './every-screen.js';
import { visit } from './visits.js';

test('each Chinese character has a glyph of its own, whatever fonts the machine has', async () => {
  const characters = [...new Set(JSON.stringify(shopWords.zh).match(/\p{Script=Han}/gu))];
  const { page } = await visit({});
  const pictures = await page.evaluate((each) => {
    const pen = Object.assign(document.createElement('canvas'), { width: 40, height: 40 }).getContext('2d');
    pen.font = '32px sans-serif';
    return each.map((character) => {
      pen.clearRect(0, 0, 40, 40);
      pen.fillText(character, 2, 34);
      return pen.canvas.toDataURL();
    });
  }, characters);
  expect(characters.length).toBeGreaterThan(100);
  expect(new Set(pictures).size).toBe(characters.length);
});

everyScreen('zh');
