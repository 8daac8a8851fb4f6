// Long computations.
import assert from 'node:assert/strict';

import { sleep } from '../../app/web/browser.mjs';
import { address, browser, check, fragmentOf, linkTo, says, words } from './page_under_test.mjs';

const text = Array.from({ length: 1500 }, (_, i) => 'word' + (i * 7919) % 997).join(' ');
const open = link => browser.evaluate(`location.hash = ${JSON.stringify(fragmentOf(link))}`);

await check('While work takes long the page goes on', async () => {
  await browser.open(address);
  assert.ok(await browser.evaluate('Module.page.rests'), 'this browser’s WebAssembly has no stacks that wait');
  const link = linkTo(changed => { changed.input.text = text; });
  await browser.evaluate(`window.most = 0; new PerformanceObserver(list => list.getEntries().forEach(one => most = Math.max(most, one.duration))).observe({ type: 'longtask' });
    location.hash = ${JSON.stringify(fragmentOf(link))}`);
  await browser.until('Module.page.resting.length > 0', 'work that rests');
  const before = await browser.evaluate('performance.now()');
  let frames = 0;
  for (let i = 0; i < 50 && (await browser.evaluate('Module.page.resting.length > 0')); ++i)
    frames += await browser.evaluate('new Promise(done => requestAnimationFrame(() => done(1)))');
  assert.ok(frames > 2, `${frames} frames`);
  await browser.until('Module.page.resting.length === 0 && Module.page.nextIn > 0.02', 'the work is done');
  console.log(`     ${Math.round((await browser.evaluate('performance.now()')) - before)} ms, the longest task ${Math.round(await browser.evaluate('most'))} ms`);
});

await check('Work that is no longer wanted gives way to what is', async () => {
  const long = linkTo(changed => { changed.input.text = text; }), wanted = linkTo(changed => { changed.input.text = 'whales sing'; });
  await browser.open(address);
  await open(long);
  await browser.until('Module.page.resting.length > 0', 'work that rests');
  // The frame with the answer arrives while the outdated work is still suspended.
  const answer = await browser.evaluate(`new Promise(done => {
    const page = Module.page, frame = page.frame, begin = performance.now();
    page.frame = (...values) => {
      page.frame = frame;
      page.frame(...values);
      done({ after: performance.now() - begin, rests: page.resting.length });
    };
    location.hash = ${JSON.stringify(fragmentOf(wanted))};
  })`);
  assert.ok(answer.rests > 0, 'the page waited for the work');
  await says(/whales/);
  await browser.settled();
  assert.equal(await browser.evaluate('Module.page.resting.length'), 0);
  assert.doesNotMatch(await words(), /word\d/);
  console.log(`     the page answers after ${Math.round(answer.after)} ms`);
});
