// node check.mjs PAGE.html PROGRAM FOLDER: Headscope's page in headless Chromium, compared with the native program.
// Pictures that differ are left in FOLDER.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Browser, sleep } from '../../app/web/browser.mjs';

const [page, program, folder] = process.argv.slice(2);
const kWidth = 1600, kHeight = 960;
mkdirSync(folder, { recursive: true });
const address = pathToFileURL(page).href;
const native = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
const browser = await Browser.start({ width: kWidth, height: kHeight });

// As the native program draws without a window: dark, and no lesson is offered.
const settings = `localStorage.setItem('headscope:/files/.config/headscope/preferences.json', '{"light":false,"lesson_offered":true}');`;
// No unsaved work of the check before.
const fresh = browser.script = `localStorage.clear(); ${settings}`;

// What is written where: [text, x, y] of an SVG.
function textsOf(svg) {
  return [...svg.matchAll(/<text x="([-\d.]+)" y="([-\d.]+)"[^>]*>([^<]*)/g)].map(([, x, y, text]) => [text, Number(x), Number(y)]);
}
// Whether two texts say the same: numbers to 2 in the last digit shown, and what depends on the machine aside.
function sameText(a, b) {
  const number = /[-−]?\d[\d,]*(\.\d+)?/g;
  if (a === b || /\b(ms|µs|s|MiB|GB\/s|GFLOP\/s|frames?)\b/.test(a)) return true;
  if (a.replace(number, '#') !== b.replace(number, '#')) return false;
  const value = text => Number(text.replaceAll(',', '').replace('−', '-'));
  const left = a.match(number) ?? [], right = b.match(number) ?? [];
  return left.every((one, i) => Math.abs(value(one) - value(right[i])) <= 2 * 10 ** -(one.split('.')[1]?.length ?? 0));
}
async function picture() {
  await browser.settled();
  await browser.evaluate("Module.FS.analyzePath('/picture.svg').exists && Module.FS.unlink('/picture.svg'); Module.page.call('headscopePicture', '/picture.svg')");
  await browser.until("Module.FS.analyzePath('/picture.svg').exists", 'a picture');
  return browser.evaluate("Module.FS.readFile('/picture.svg', { encoding: 'utf8' })");
}
async function words() {
  return textsOf(await picture()).map(([text]) => text).join('\n');
}

// Into the box of the tokens, in place of what is there.
async function write(text) {
  for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased']) await browser.mouse(type, 150, 110, type === 'mouseMoved' ? 'none' : 'left');
  await sleep(300);
  await browser.key('a', { modifiers: 2, code: 'KeyA' });
  for (const letter of text) await browser.key(letter, { text: letter });
  await sleep(1000);
}

let failed = 0;
async function check(name, body) {
  const start = Date.now();
  browser.problems = [];
  try {
    await body();
    assert.deepEqual(browser.problems, [], 'the page threw');
    console.log(`ok   ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}: ${error.message}`);
    writeFileSync(join(folder, name.replaceAll(/\W+/g, '-') + '.png'), await browser.picture());
  }
}

const scene = JSON.parse(native('scene'));
const sceneFile = join(folder, 'scene.json');
function linkTo(change) {
  const changed = structuredClone(scene);
  change(changed);
  writeFileSync(sceneFile, JSON.stringify(changed));
  return native('link', sceneFile).trim();
}
const fragmentOf = link => link.slice(link.indexOf('#'));

await check('The opening scene is drawn', async () => {
  await browser.open(address);
  assert.match(await words(), /heads/i);
  const first = await browser.evaluate('Module.page.firstFrame');
  console.log(`     first frame after ${Math.round(first)} ms`);
});

for (const key of ['heads', 'mask', 'map', 'cache', 'cost', 'model', 'lab', 'lessons', 'talk'])
  await check(`The page ${key} says what it says natively, where it says it`, async () => {
    const link = linkTo(changed => { changed.cursor.page = key; });
    await browser.open(address + fragmentOf(link));
    const own = await picture(), drawn = join(folder, key + '.svg');
    native('render', link, '--size', `${kWidth}x${kHeight}`, '--output', drawn);
    writeFileSync(join(folder, key + '-web.svg'), own);
    const expected = textsOf(readFileSync(drawn, 'utf8')), found = textsOf(own);
    // The status line has how long everything took.
    const missing = expected.filter(one => one[2] < kHeight - 24).filter(([text, x, y]) => !found.some(([other, u, v]) => Math.hypot(u - x, v - y) < 2 && sameText(text, other)));
    assert.ok(expected.length > 20, `only ${expected.length} texts natively`);
    assert.ok(missing.length <= expected.length / 50, `${missing.length} of ${expected.length} texts differ: ${missing.slice(0, 8).map(one => one.join(' ')).join(' | ')}`);
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

await check('What is typed is tokens', async () => {
  await browser.open(address);
  await write('whales sing');
  assert.match(await words(), /whales/);
});

await check('The mouse chooses a page', async () => {
  await browser.open(address);
  const tab = textsOf(await picture()).find(([text]) => text === 'Mask');
  assert.ok(tab, 'no tab named Mask');
  for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
    await browser.mouse(type, tab[1] + 8, tab[2] - 4, type === 'mouseMoved' ? 'none' : 'left');
  await browser.until("location.hash.startsWith('#scene=')", 'the page changes');
});

await check('Unsaved work asks before the page is left, and is there the next time', async () => {
  await browser.open(address);
  await write('work that is kept');
  await browser.until('Module.page.unsaved', 'unsaved work');
  await browser.until("Object.keys(localStorage).some(key => key.includes('/recovery/'))", 'work in the browser’s storage');
  const dialogs = browser.dialogs;
  browser.leaves = false;
  await browser.send('Page.reload').catch(() => {});
  await sleep(1000);
  browser.leaves = true;
  assert.ok(browser.dialogs > dialogs, 'nobody asked');
  browser.script = settings;
  await browser.open(address);
  browser.script = fresh;
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

await check('The page asks nothing of the network', async () => {
  const asked = browser.requests.filter(url => !/^(file|about|blob|data):/.test(url));
  assert.deepEqual(asked, []);
});

await browser.close();
console.log(failed ? `${failed} failed` : 'all passed');
process.exit(failed ? 1 : 0);
