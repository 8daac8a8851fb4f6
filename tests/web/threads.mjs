// node threads.mjs FOLDER PROGRAM OUTPUT [PATTERN]: the multi-threaded page, served by its own server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { sleep } from '../../app/web/browser.mjs';
import { browser, check, end, expectSame, folder, fragmentOf, kHeight, kWidth, linkTo, native, page, picture, says, words, write } from './page_under_test.mjs';

const server = spawn(process.execPath, [fileURLToPath(new URL('../../app/web/serve.mjs', import.meta.url)), page, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise(done => server.stdout.once('data', text => done(String(text).trim())));
const working = () => browser.evaluate('Module.PThread.runningWorkers.length');

await check('The page is isolated, and begins with its threads', async () => {
  await browser.open(address);
  assert.ok(await browser.evaluate('crossOriginIsolated'));
  assert.ok(await working() > 3, `${await working()} threads`);
});

for (const key of ['heads', 'map', 'cost'])
  await check(`The page ${key} says what it says natively, where it says it`, async () => {
    const link = linkTo(changed => { changed.cursor.page = key; });
    await browser.open(address + fragmentOf(link));
    const drawn = join(folder, key + '.svg');
    await sleep(500);
    native('render', link, '--size', `${kWidth}x${kHeight}`, '--output', drawn);
    expectSame(readFileSync(drawn, 'utf8'), await picture());
  });

await check('What is typed is tokens', async () => {
  await browser.open(address);
  await write('whales sing');
  assert.match(await words(), /whales/);
});

await check('While work takes long the page goes on, and what is wanted instead comes', async () => {
  const text = Array.from({ length: 1500 }, (_, i) => 'word' + (i * 7919) % 997).join(' ');
  const open = link => browser.evaluate(`location.hash = ${JSON.stringify(fragmentOf(link))}`);
  await browser.open(address);
  const long = linkTo(changed => { changed.input.text = text; }), wanted = linkTo(changed => { changed.input.text = 'whales sing'; });
  await open(long);
  await sleep(100);
  assert.ok(await browser.evaluate('new Promise(done => requestAnimationFrame(() => done(true)))'));
  await open(wanted);
  await says(/whales/);
  assert.doesNotMatch(await words(), /word\d/);
});

server.kill();
await end();
