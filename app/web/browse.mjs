// node browse.mjs PAGE.html --picture FILE.png: saves a picture of the opened page.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { Browser } from './browser.mjs';

const [page, , picture] = process.argv.slice(2);
const browser = await Browser.start();
try {
  await browser.open(pathToFileURL(page).href);
  writeFileSync(picture, await browser.picture());
} finally {
  await browser.close();
}
