// Touch, keyboard and screen input to the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { sleep } from '../../app/web/browser.mjs';
import { act, address, browser, check, click, expectSame, folder, fragmentOf, kHeight, kWidth, linkTo, native, picture, pictureNow, placeOf,
  says, textsOf, words, write } from './page_under_test.mjs';

const hash = () => browser.evaluate('location.hash');
async function hashChanges(act) {
  const before = await hash();
  await act();
  await browser.until(`location.hash !== ${JSON.stringify(before)}`, 'the address follows');
}
// Drags a finger along the points, a frame or two each.
async function drag(...points) {
  await browser.touch('touchStart', [points[0]]);
  for (const point of points.slice(1)) {
    await sleep(100);
    await browser.touch('touchMove', [point]);
  }
  await sleep(100);
  await browser.touch('touchEnd');
}
async function withScreen(metrics, body) {
  const before = browser.metrics;
  browser.metrics = { ...before, ...metrics };
  try {
    await body();
  } finally {
    browser.metrics = before;
  }
}

await check('A tap chooses a page', async () => {
  await browser.open(address);
  const { x, y } = await placeOf('Mask');
  await hashChanges(() => drag([x, y]));
});

await check('A finger drags a slider', async () => {
  await browser.open(address);
  const { y } = await placeOf('Sharpness');
  await hashChanges(() => drag([168, y], [180, y], [200, y]));
  const value = textsOf(await picture()).filter(([, x, at]) => x > 240 && x < 300 && Math.abs(at - y - 4) < 3);
  assert.notEqual(value[0][0], '1.0');
});

await check('A long press is the right click, and presses nothing else', async () => {
  await browser.open(address);
  const before = textsOf(await picture()).length;
  await browser.touch('touchStart', [[450, 250]]);
  await sleep(2000);
  const during = textsOf(await pictureNow()).length;
  await browser.touch('touchEnd');
  assert.ok(during > before, 'no menu opened');
});

await check('Two fingers zoom the map', async () => {
  const link = linkTo(changed => { changed.cursor.page = 'map'; });
  await browser.open(address + fragmentOf(link));
  const before = await words(), middle = [kWidth / 2, kHeight / 2];
  const apart = by => [[middle[0] - by, middle[1]], [middle[0] + by, middle[1]]];
  await browser.touch('touchStart', apart(20));
  for (let by = 40; by <= 300; by += 40) {
    await sleep(60);
    await browser.touch('touchMove', apart(by));
  }
  await browser.touch('touchEnd');
  await sleep(1000);
  assert.notEqual(await words(), before);
});

await check('An input method writes into the box that is edited', async () => {
  await browser.open(address);
  await click(150, 110);
  await browser.key('a', { modifiers: 2, code: 'KeyA' });
  await browser.until("document.activeElement.id === 'typed'", 'the page takes text');
  await browser.settled();
  // The caret's position, so that the input method's suggestions appear next to it.
  const caret = await browser.evaluate("(({ x, y, height }) => ({ x, y, height }))(document.getElementById('typed').getBoundingClientRect())");
  assert.ok(caret.x > 20 && caret.x < 290 && caret.y > 95 && caret.y < 160 && caret.height > 8, JSON.stringify(caret));
  await browser.send('Input.imeSetComposition', { text: 'Gro', selectionStart: 3, selectionEnd: 3 });
  await browser.send('Input.insertText', { text: 'Größe zählt' });
  await sleep(1000);
  const said = await words();
  assert.match(said, /größe/i);
  assert.doesNotMatch(said, /größe.*größe/i);
});

await check('What is pasted is written, and what is copied is in the clipboard', async () => {
  await browser.open(address);
  await browser.send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'] });
  await write('copied words');
  await browser.key('a', { modifiers: 2, code: 'KeyA' });
  await browser.key('c', { modifiers: 2, code: 'KeyC' });
  await browser.until("navigator.clipboard.readText().then(text => text === 'copied words')", 'the clipboard has the words');
  await browser.evaluate(`{
    const data = new DataTransfer();
    data.setData('text', 'pasted ones');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  }`);
  await says(/pasted/);
});

await check('A screen of twice the density shows the same with finer letters', () => withScreen({ width: kWidth / 2, height: kHeight / 2, deviceScaleFactor: 2 }, async () => {
  const link = linkTo(changed => { changed.cursor.page = 'cost'; });
  await browser.open(address + fragmentOf(link));
  assert.deepEqual(await browser.evaluate('[Module.canvas.width, Module.canvas.height]'), [kWidth, kHeight]);
  const drawn = join(folder, 'dense.svg');
  native('render', link, '--size', `${kWidth}x${kHeight}`, '--scale', '2', '--output', drawn);
  expectSame(readFileSync(drawn, 'utf8'), await picture(), 2);
}));

await check('The zoom of the page and the size of its window are followed', async () => {
  await browser.open(address);
  for (const [width, height, deviceScaleFactor] of [[1280, 768, 1.25], [1024, 700, 1], [1600, 960, 1]]) {
    await browser.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor, mobile: false });
    const size = [width, height].map(side => Math.round(side * deviceScaleFactor));
    await browser.until(`Module.canvas.width === ${size[0]} && Module.canvas.height === ${size[1]}`, `a canvas of ${size}`);
    const texts = textsOf(await picture());
    assert.ok(texts.length > 20 && texts.every(([, x, y]) => x <= size[0] && y <= size[1]), `${texts.length} texts at ${size}`);
  }
});

await check('A tablet shows every page within its screen', () => withScreen({ width: 1024, height: 768, deviceScaleFactor: 2, mobile: true }, async () => {
  for (const key of ['heads', 'flow', 'mask', 'map', 'cache', 'cost', 'model', 'lab', 'lessons', 'talk']) {
    await browser.open(address + fragmentOf(linkTo(changed => { changed.cursor.page = key; changed.cursor.lab.tab = 'weights'; })));
    assert.deepEqual(await browser.evaluate('[Module.canvas.width, Module.canvas.height]'), [2048, 1536]);
    const texts = textsOf(await picture());
    assert.ok(texts.length > 12, `${key} has ${texts.length} texts`);
    const outside = texts.filter(([, x, y]) => x < 0 || x > 2048 || y < 0 || y > 1536);
    assert.deepEqual(outside, [], key);
  }
}));

await check('Full screen begins, and is left by the browser’s own key', async () => {
  await browser.open(address);
  await act('full screen');
  await browser.until('document.fullscreenElement', 'full screen');
  await browser.evaluate('document.exitFullscreen()');
  await sleep(1000);
  assert.ok(!(await browser.evaluate('!!document.fullscreenElement')), 'it came back');
  await act('full screen');
  await browser.until('document.fullscreenElement', 'full screen once more');
});
