// The picture at the top of the README, composed of two from `pictures.js`: a buyer's phone in front of the operators' page.
// `npm run cover` renders it again.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser } from '../browser.js';

const PICTURES = fileURLToPath(new URL('../../../docs/pictures', import.meta.url));
const SIZE = { width: 1280, height: 560 };

/** The picture as a page, in the shop's colours, cropped to what tells the story. */
const layout = ({ operators, phone }) => `<!doctype html><style>
  * { margin: 0 }
  body { background: linear-gradient(120deg, #f4ecd8, #dcefe6); height: ${SIZE.height}px; overflow: hidden; position: relative }
  div { background-size: 100%; background-repeat: no-repeat; position: absolute; box-shadow: 0 18px 50px rgb(20 50 40 / 22%) }
  .operators { background-image: url(${operators}); background-size: 1106px; background-position: -22px -58px; left: 52px;
    top: 44px; width: 800px; height: 620px; border-radius: 16px }
  .phone { background-image: url(${phone}); right: 76px; top: 36px; width: 288px; height: 590px; border-radius: 30px;
    border: 9px solid #17211d; background-origin: padding-box; background-color: #fbfaf6 }
</style><div class=operators></div><div class=phone></div>`;

const inline = async (name) => `data:image/png;base64,${(await readFile(`${PICTURES}/${name}.png`)).toString('base64')}`;

const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: SIZE });
  await page.setContent(layout({ operators: await inline('operators'), phone: await inline('phone-reserved') }));
  await page.screenshot({ path: `${PICTURES}/stampede.png` });
} finally {
  await browser.close();
}
