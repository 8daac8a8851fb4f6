// Files loaded into and saved from the page, and links between the page and the native program.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { sleep } from '../../app/web/browser.mjs';
import { act, address, browser, check, click, expectSame, folder, fragmentOf, kHeight, kWidth, native, picture, placeOf, says, scene,
  sceneFile, takesText, textsOf, words, write } from './page_under_test.mjs';

const models = join(dirname(dirname(fileURLToPath(import.meta.url))), 'golden_models');
const downloads = join(folder, 'downloads');

// Drops a folder with all its contents.
async function drop(path, name) {
  const files = readdirSync(path).map(file => [`${name}/${file}`, readFileSync(join(path, file)).toString('base64')]);
  await browser.evaluate(`(async files => {
    const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    if (await Module.page.take(files.map(([name, text]) => [name, new Blob([bytes(text)])]))) Module.page.call('headscopeDrop', '/files/${name}');
  })(${JSON.stringify(files)})`);
}
// Returns the file that the page downloads after `act` starts it.
async function download(name, act, seconds = 60) {
  rmSync(downloads, { recursive: true, force: true });
  mkdirSync(downloads);
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
  await act();
  const file = join(downloads, name);
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(200))
    if (existsSync(file) && !existsSync(file + '.crdownload')) return readFileSync(file);
  assert.fail(`${name} was not downloaded; ${readdirSync(downloads)} were`);
}
// Saves under a name in the dialog that asks for one.
async function save(name) {
  await takesText();
  await browser.key('a', { modifiers: 2, code: 'KeyA' });
  await browser.type(name);
  await browser.key('Enter', { code: 'Enter' });
}

await check('A model’s folder that is dropped opens, and says what it says natively', async () => {
  const model = join(models, 'gpt2');
  await browser.open(address);
  await drop(model, 'gpt2');
  await says(/gpt2/i);
  await sleep(1000);
  const own = await picture(), drawn = join(folder, 'model.svg');
  native('render', model, '--size', `${kWidth}x${kHeight}`, '--output', drawn);
  const expected = textsOf(readFileSync(drawn, 'utf8')).map(([text]) => text), found = new Set(textsOf(own).map(([text]) => text));
  const missing = expected.filter(text => !found.has(text));
  writeFileSync(join(folder, 'model-web.svg'), own);
  assert.ok(missing.length <= expected.length / 10, `${missing.length} of ${expected.length} texts are missing: ${missing.slice(0, 12).join(' | ')}`);
});

await check('The browser’s own dialog gives a file', async () => {
  await browser.open(address);
  const file = join(folder, 'given.json');
  writeFileSync(file, JSON.stringify({ ...scene, input: { ...scene.input, text: 'chosen by hand' } }));
  const given = browser.giveFiles(file);
  await browser.key('o', { modifiers: 2, code: 'KeyO' });
  await given;
  await says(/chosen/);
});

await check('The browser’s own dialog gives a model’s folder', async () => {
  await browser.open(address);
  await browser.key('O', { modifiers: 10, code: 'KeyO' });
  let chosen = false;
  const given = browser.giveFiles(join(models, 'gpt2')).then(() => (chosen = true));
  for (let i = 0; i < 20 && !chosen; ++i) {
    await sleep(500);
    if (!chosen) await click(kWidth / 2 + 4, kHeight / 2 + 146);  // the dialog is in the middle and not part of pictures
  }
  await given;
  await says(/gpt2/i);
});

await check('Films are said to be the installed program’s before anything is asked', async () => {
  await browser.open(address);
  await act('record a film');
  await says(/Only the installed Headscope makes films/);
  assert.doesNotMatch(await words(), /Choose a file/);
});

await check('A scene that is saved is a download, which opens natively', async () => {
  await browser.open(address);
  await write('saved in a browser');
  // Leaves that box, so that the next box to take text is the dialog's.
  await click(kWidth / 2, kHeight / 2);
  await browser.until("document.activeElement.id !== 'typed'", 'no box that takes text');
  const bytes = await download('mine.headscope.json', async () => {
    await browser.key('s', { modifiers: 2, code: 'KeyS' });
    await save('mine.headscope.json');
  });
  writeFileSync(sceneFile, bytes);
  assert.equal(JSON.parse(bytes).input.text, 'saved in a browser');
  assert.match(native('link', sceneFile), /#scene=/);
});

await check('A picture is a download as SVG, PNG and PDF', async () => {
  const begins = { svg: '<?xml', png: '\x89PNG', pdf: '%PDF-1.' };
  for (const kind in begins) {
    await browser.open(address);
    const bytes = await download('heads.' + kind, async () => {
      await browser.key('p', { modifiers: 2, code: 'KeyP' });
      await save('heads.' + kind);
    });
    assert.equal(bytes.subarray(0, begins[kind].length).toString('latin1'), begins[kind]);
    assert.ok(bytes.length > 5000, `${kind}: ${bytes.length} bytes`);
  }
});

await check('A figure of one part is what it is natively', async () => {
  for (const [part, what] of [['the mask', 'mask'], ['all heads', 'heads']]) {
    await browser.open(address);
    const own = await download(`${what}.svg`, async () => {
      await act('save a picture of ' + part);
      await save(`${what}.svg`);
    });
    const drawn = join(folder, what + '-figure.svg');
    native('render', '--what', what, '--scale', '2', '--output', drawn);
    const said = svg => textsOf(svg).map(([text]) => text);
    assert.deepEqual(said(own.toString()), said(readFileSync(drawn, 'utf8')));
    assert.doesNotMatch(own.toString(), />Undo</);
  }
});

await check('A handout of a talk or a lesson is a download with a page for each view, as natively', async () => {
  const talk = join(folder, 'talk.json'), drawn = join(folder, 'handout.pdf');
  const view = (name, page) => ({ name, notes: 'Say hello to all', page, scene: {} });
  writeFileSync(talk, JSON.stringify({ format: 'headscope scene', version: 2, cursor: { page: 'talk' }, talk: [view('Opening words', 'heads'), view('Its masks', 'mask')] }));
  const pages = pdf => Number(pdf.toString('latin1').match(/\/Type \/Pages\s[^>]*\/Count (\d+)/)?.[1]);
  const expectPages = async (file, count) => {
    const own = await download('handout.pdf', async () => {
      await act('save a handout');
      await save('handout.pdf');
    }, 180);
    native('handout', file, '--output', drawn);
    assert.equal(own.subarray(0, 7).toString(), '%PDF-1.');
    assert.equal(pages(own), count);
    assert.equal(pages(readFileSync(drawn)), count, 'natively');
  };
  await browser.open(address);
  await browser.evaluate(`Module.page.take([['talk.json', new Blob([${JSON.stringify(readFileSync(talk, 'utf8'))}])]]).then(() => Module.page.call('headscopeDrop', '/files/talk.json'))`);
  await says(/Opening words/);
  await expectPages(talk, 2);
  await browser.open(address + fragmentOf(native('link', '--lesson', 'scaled_attention').trim()));
  await says(/step 1 of 9/);
  await expectPages('01-scaled-attention', 9);
});

await check('A link that was made here opens natively', async () => {
  await browser.open(address);
  await write('from here to there');
  const tab = await placeOf('Mask');
  await click(tab.x, tab.y);
  await sleep(1500);
  const link = await browser.evaluate('location.href'), drawn = join(folder, 'link.svg');
  assert.match(link, /#scene=/);
  native('render', link, '--size', `${kWidth}x${kHeight}`, '--output', drawn);
  // Neither picture marks the keyboard focus.
  await browser.open(link);
  expectSame(readFileSync(drawn, 'utf8'), await picture());
});

await check('A lesson from a link is answered', async () => {
  const lesson = native('link', '--lesson', 'scaled_attention', '--step', '2').trim();
  await browser.open(address + fragmentOf(lesson));
  await says(/smaller/);
  assert.doesNotMatch(await words(), /cosine/);
  const option = await placeOf('smaller');
  await click(option.x, option.y);
  await says(/cosine/);
});

await check('What needs more memory than a page has is refused in a sentence', async () => {
  const text = Array.from({ length: 8192 }, (_, i) => 'w' + i).join(' ');
  writeFileSync(sceneFile, JSON.stringify({ ...scene, input: { ...scene.input, text } }));
  await browser.open(address);
  const bytes = readFileSync(sceneFile).toString('base64');
  await browser.evaluate(`Module.page.take([['large.json', new Blob([atob('${bytes}')])]]).then(() => Module.page.call('headscopeDrop', '/files/large.json'))`);
  await says(/memory|budget|GiB|MiB/, 60);
});
