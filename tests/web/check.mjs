// node check.mjs PAGE.html PROGRAM FOLDER [PATTERN]: Headscope's page in headless Chromium, compared with the native
// program. With a pattern, runs only the checks whose names match it. Pictures that differ are left in FOLDER.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { sleep } from '../../app/web/browser.mjs';
import { address, browser, check, click, end, expectSame, folder, fragmentOf, fresh, kHeight, kWidth, linkTo, native, page, picture, placeOf,
  scene, sceneFile, settings, words, write } from './page_under_test.mjs';

await check('The opening scene is drawn', async () => {
  await browser.open(address);
  assert.match(await words(), /heads/i);
  const first = await browser.evaluate('Module.page.firstFrame');
  console.log(`     first frame after ${Math.round(first)} ms`);
});

for (const key of ['heads', 'flow', 'mask', 'map', 'cache', 'cost', 'model', 'lab', 'lessons', 'talk'])
  await check(`The page ${key} says what it says natively, where it says it`, async () => {
    const link = linkTo(changed => { changed.cursor.page = key; changed.cursor.lab.tab = 'weights'; });
    await browser.open(address + fragmentOf(link));
    const own = await picture(), drawn = join(folder, key + '.svg');
    native('render', link, '--size', `${kWidth}x${kHeight}`, '--output', drawn);
    writeFileSync(join(folder, key + '-web.svg'), own);
    expectSame(readFileSync(drawn, 'utf8'), own);
  });

await check('A link opens a scene, and a damaged one says so beside the opening scene', async () => {
  const link = linkTo(changed => { changed.input.text = 'a page from a link'; });
  await browser.open(address + fragmentOf(link));
  assert.match(await words(), /link/);
  await browser.evaluate(`location.hash = ${JSON.stringify(fragmentOf(link).slice(0, -9))}`);
  await sleep(500);
  assert.match(await words(), /cut off|damaged/);
});

await check('The address follows what is changed, and undo, without filling the history', async () => {
  await browser.open(address);
  const before = await browser.evaluate('history.length');
  await browser.key('2');
  await browser.until("location.hash.startsWith('#scene=')", 'an address of the scene');
  const link = await browser.evaluate('location.hash');
  assert.equal(fragmentOf(native('link', link).trim()), link);
  assert.equal(await browser.evaluate('history.length'), before);
});

await check('Embedded, the page shows its picture without tools', async () => {
  await browser.open(address + '?embed');
  const said = await words();
  assert.match(said, /because/);
  assert.doesNotMatch(said, /Undo|Model dim/i);
});

await check('What is typed is tokens', async () => {
  await browser.open(address);
  await write('whales sing');
  assert.match(await words(), /whales/);
});

await check('The mouse chooses a page', async () => {
  await browser.open(address);
  const tab = await placeOf('Mask');
  await click(tab.x, tab.y);
  await browser.until("location.hash.startsWith('#scene=')", 'the page changes');
});

// Types, is asked whether to leave when reloading, and opens the page in a new tab. Returns whether that tab has the same
// storage, which Chromium doesn't give to every tab of a file. A key that isn't Headscope's shows it.
async function leaveUnsaved() {
  await browser.open(address);
  await write('work that is kept');
  await browser.until('Module.page.unsaved', 'unsaved work');
  await browser.until("Object.keys(localStorage).some(key => key.includes('/recovery/'))", 'work in the browser’s storage');
  await browser.evaluate("localStorage.setItem('of the check', 'kept')");
  const dialogs = browser.dialogs;
  browser.leaves = false;
  await browser.send('Page.reload').catch(() => {});
  await sleep(1000);
  browser.leaves = true;
  assert.ok(browser.dialogs > dialogs, 'nobody asked');
  browser.script = settings;
  await browser.open(address);
  browser.script = fresh;
  return browser.evaluate("localStorage.getItem('of the check') !== null");
}

await check('Unsaved work asks before the page is left, and is there the next time', async () => {
  for (let tries = 1; !await leaveUnsaved(); ++tries) assert.ok(tries < 8, 'no tab had the storage of the one before');
  const kept = "Object.keys(localStorage).filter(key => key.includes('/recovery/')).map(key => localStorage[key]).join()";
  assert.match(await browser.evaluate(kept), /kept/);
  assert.ok(await browser.evaluate("Module.FS.readdir('/files/.local/state/headscope/recovery').length > 2"), 'it is not offered');
});

await check('Files that are too large are refused before they are read', async () => {
  await browser.open(address);
  await browser.evaluate("Module.page.take([['large.safetensors', { size: 2 ** 31, arrayBuffer() { throw new Error('it was read'); } }]])");
  await sleep(500);
  assert.match(await words(), /768 MiB/);
});

await check('Nothing from a file’s name becomes part of the page', async () => {
  await browser.open(address);
  await browser.evaluate(`(async () => {
    const name = '<img src=x onerror=alert(1)>.json';
    await Module.page.take([[name, new Blob(['{']) ]]);
    Module.page.call('headscopeDrop', '/files/' + name);
  })()`);
  await sleep(500);
  assert.equal(await browser.evaluate("document.querySelectorAll('img').length"), 0);
});

await check('A scene that was put into the page opens', async () => {
  const exported = join(folder, 'exported.html');
  writeFileSync(sceneFile, JSON.stringify({ ...scene, input: { ...scene.input, text: "given away" } }));
  native('export-html', sceneFile, '-o', exported, '--page', page);
  await browser.open(pathToFileURL(exported).href);
  await sleep(500);
  assert.match(await words(), /given/);
});

await check('Recorded attention that was put into the page opens on Model, and a click enlarges a head there', async () => {
  const recorded = join(folder, 'recorded.npy'), exported = join(folder, 'recorded.html');
  const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 2, 2), }".padEnd(117) + '\n';
  const weights = new Float32Array(Array.from({ length: 12 }, () => [1, 0, 0.25, 0.75]).flat());
  writeFileSync(recorded, Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY'), Buffer.from([1, 0, header.length, 0]),
    Buffer.from(header), Buffer.from(weights.buffer)]));
  native('export-html', recorded, '-o', exported, '--page', page);
  await browser.open(pathToFileURL(exported).href);
  await sleep(500);
  assert.match(await words(), /12 heads/);
  await click(kWidth / 2, kHeight / 2);
  await sleep(500);
  assert.match(await words(), /12 heads/);
  assert.doesNotMatch(await words(), /can.t be computed/);
});

await import('./input.mjs');
await import('./files.mjs');
await import('./work.mjs');

await check('The page asks nothing of the network', async () => {
  const asked = browser.requests.filter(url => !/^(file|about|blob|data):/.test(url));
  assert.deepEqual(asked, []);
});

await end();
