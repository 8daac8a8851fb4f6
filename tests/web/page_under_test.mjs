// Shared by the checks of Headscope's page: a browser with the page, the native program for comparison, and the texts of
// a picture with their places.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Browser, sleep } from '../../app/web/browser.mjs';

export const [page, program, folder] = process.argv.slice(2, 5).map(path => resolve(path));
export const kWidth = 1600, kHeight = 960;
mkdirSync(folder, { recursive: true });
export const address = pathToFileURL(page).href;
export const native = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
export const browser = await Browser.start({ width: kWidth, height: kHeight });

// Settings as in the native program without a window: dark, and no lesson is offered.
export const settings = `localStorage.setItem('headscope:/files/.config/headscope/preferences.json', '{"light":false,"lesson_offered":true}');`;
// Removes unsaved work of the previous check.
export const fresh = browser.script = `localStorage.clear(); ${settings}`;

// The texts of an SVG with their places: [text, x, y].
export function textsOf(svg) {
  return [...svg.matchAll(/<text x="([-\d.]+)" y="([-\d.]+)"[^>]*>([^<]*)/g)].map(([, x, y, text]) => [text, Number(x), Number(y)]);
}
// Whether two texts are equal, allowing differences of 2 in a number's last digit and ignoring machine-dependent texts.
export function sameText(a, b) {
  const number = /[-−]?\d[\d,]*(\.\d+)?/g;
  if (a === b || /\b(ms|µs|s|MiB|GB\/s|GFLOP\/s|frames?)\b/.test(a)) return true;
  if (a.replace(number, '#') !== b.replace(number, '#')) return false;
  const value = text => Number(text.replaceAll(',', '').replace('−', '-'));
  const left = a.match(number) ?? [], right = b.match(number) ?? [];
  return left.every((one, i) => Math.abs(value(one) - value(right[i])) <= 2 * 10 ** -(one.split('.')[1]?.length ?? 0));
}
// The texts in the native program's window that the page's picture lacks at their places. The status line is left out,
// because it shows how long everything took.
export function missingTexts(drawn, own, scale) {
  const expected = textsOf(drawn), found = textsOf(own);
  assert.ok(expected.length > 20, `only ${expected.length} texts natively`);
  const missing = expected.filter(one => one[2] < kHeight - 24 * scale).filter(([text, x, y]) => !found.some(([other, u, v]) => Math.hypot(u - x, v - y) < 2 && sameText(text, other)));
  return { missing, expected };
}
export function expectSame(drawn, own, scale = 1) {
  const { missing, expected } = missingTexts(drawn, own, scale);
  assert.ok(missing.length <= expected.length / 50, `${missing.length} of ${expected.length} texts differ: ${missing.slice(0, 8).map(one => one.join(' ')).join(' | ')}`);
}
export async function picture() {
  await browser.settled();
  return pictureNow();
}
export async function pictureNow() {
  await browser.evaluate("Module.FS.analyzePath('/picture.svg').exists && Module.FS.unlink('/picture.svg'); Module.page.call('headscopePicture', '/picture.svg')");
  await browser.until("Module.FS.analyzePath('/picture.svg').exists", 'a picture');
  return browser.evaluate("Module.FS.readFile('/picture.svg', { encoding: 'utf8' })");
}
export async function words() {
  return textsOf(await picture()).map(([text]) => text).join('\n');
}
// The place where a text begins, in pixels of the page.
export async function placeOf(text) {
  const found = textsOf(await picture()).find(([other]) => other === text);
  assert.ok(found, `nothing says ${text}`);
  return { x: found[1] + 8, y: found[2] - 4 };
}
// Waits until a text on the page matches the pattern.
export async function says(pattern, seconds = 30) {
  let said = '';
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(200))
    if (pattern.test(said = textsOf(await pictureNow()).map(([text]) => text).join('\n'))) return;
  assert.fail(`nothing says ${pattern} in:\n${said}`);
}
// Waits until a text box has the keyboard focus.
export const takesText = () => browser.until("document.activeElement.id === 'typed'", 'a box that takes text');
// Runs an action from the list of all actions.
export async function act(words) {
  await browser.key('k', { modifiers: 2, code: 'KeyK' });
  await takesText();
  await browser.type(words);
  await sleep(300);
  await browser.key('Enter', { code: 'Enter' });
  await sleep(300);
}
export async function click(x, y) {
  for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased']) await browser.mouse(type, x, y, type === 'mouseMoved' ? 'none' : 'left');
  await sleep(300);
}
// Replaces the text in the token box.
export async function write(text) {
  await click(150, 110);
  await browser.key('a', { modifiers: 2, code: 'KeyA' });
  await browser.type(text);
  await sleep(1000);
}

let failed = 0;
const only = process.argv[5] && new RegExp(process.argv[5], 'i');
export async function check(name, body) {
  if (only && !only.test(name)) return;
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
export async function end() {
  await browser.close();
  console.log(failed ? `${failed} failed` : 'all passed');
  process.exit(failed ? 1 : 0);
}

export const scene = JSON.parse(native('scene'));
export const sceneFile = join(folder, 'scene.json');
export function linkTo(change) {
  const changed = structuredClone(scene);
  change(changed);
  writeFileSync(sceneFile, JSON.stringify(changed));
  return native('link', sceneFile).trim();
}
export const fragmentOf = link => link.slice(link.indexOf('#'));
