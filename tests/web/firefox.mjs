// node firefox.mjs PAGE.html PROGRAM FOLDER: Headscope's page in Firefox, controlled through Marionette on a separate
// display, because without one Firefox has no WebGL.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { sleep } from '../../app/web/browser.mjs';

const [page, program, folder] = process.argv.slice(2, 5).map(path => resolve(path));
mkdirSync(folder, { recursive: true });

class Firefox {
  static async start() {
    const firefox = new Firefox();
    firefox.profile = mkdtempSync(join(tmpdir(), 'headscope-firefox-'));
    writeFileSync(join(firefox.profile, 'user.js'), [['marionette.port', 0], ['webgl.force-enabled', true], ['browser.shell.checkDefaultBrowser', false],
      ['datareporting.policy.dataSubmissionEnabled', false]].map(([name, value]) => `user_pref('${name}', ${value});\n`).join(''));
    firefox.display = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1600x1060x24'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const display = await new Promise(done => firefox.display.stdout.once('data', text => done(String(text).trim())));
    firefox.process = spawn('firefox-esr', ['--marionette', '--no-remote', '--kiosk', '--profile', firefox.profile],
      { stdio: 'ignore', env: { ...process.env, HOME: firefox.profile, DISPLAY: ':' + display, WAYLAND_DISPLAY: '' } });
    const file = join(firefox.profile, 'MarionetteActivePort');
    for (let tries = 0; !existsSync(file) || !readFileSync(file, 'utf8'); ++tries) {
      assert.ok(tries < 1200 && firefox.process.exitCode === null, 'Firefox does not start');
      await sleep(100);
    }
    firefox.socket = connect(Number(readFileSync(file, 'utf8')), '127.0.0.1');
    firefox.waiting = new Map();
    firefox.text = Buffer.alloc(0);
    firefox.socket.on('data', data => firefox.hear(data));
    await firefox.send('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
    return firefox;
  }
  // Each message is its length in bytes, a colon and JSON; the first one is a greeting.
  hear(data) {
    this.text = Buffer.concat([this.text, data]);
    for (let colon; (colon = this.text.indexOf(':')) > 0;) {
      const end = colon + 1 + Number(this.text.subarray(0, colon));
      if (this.text.length < end) return;
      const message = JSON.parse(this.text.subarray(colon + 1, end));
      this.text = this.text.subarray(end);
      if (!Array.isArray(message)) continue;
      const { done, failed } = this.waiting.get(message[1]);
      message[2] ? failed(new Error(message[2].message)) : done(message[3]);
    }
  }
  send(command, parameters = {}) {
    const id = this.waiting.size + 1, text = JSON.stringify([0, id, command, parameters]);
    const promise = new Promise((done, failed) => this.waiting.set(id, { done, failed }));
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return promise;
  }
  async evaluate(expression) {
    return (await this.send('WebDriver:ExecuteScript', { script: `return ${expression};`, args: [] })).value;
  }
  async until(expression, what) {
    for (const end = Date.now() + 120000; Date.now() < end; await sleep(100)) if (await this.evaluate(expression)) return;
    throw new Error('waited in vain: ' + what);
  }
  act(type, id, actions, parameters) { return this.send('WebDriver:PerformActions', { actions: [{ type, id, parameters, actions }] }); }
  click(x, y) {
    return this.act('pointer', 'mouse', [{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }], { pointerType: 'mouse' });
  }
  type(text) { return this.act('key', 'keys', [...text].flatMap(value => [{ type: 'keyDown', value }, { type: 'keyUp', value }])); }
  async picture() { return Buffer.from((await this.send('WebDriver:TakeScreenshot', { full: false, hash: false })).value, 'base64'); }
  async close() {
    this.process.kill();
    await new Promise(done => (this.process.exitCode === null ? this.process.once('exit', done) : done()));
    this.display.kill();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const firefox = await Firefox.start();
let failed = false;
try {
  await firefox.send('WebDriver:Navigate', { url: pathToFileURL(page).href });
  await firefox.until("!document.getElementById('say') || !/Loading/.test(document.getElementById('say').textContent)", 'the first frame');
  assert.equal(await firefox.evaluate("document.getElementById('say')?.textContent"), null);
  await sleep(2000);
  const drawn = await firefox.picture();
  writeFileSync(join(folder, 'firefox.png'), drawn);
  assert.ok(drawn.length > 50000, `a picture of ${drawn.length} bytes`);
  console.log('ok   Firefox draws the opening scene');
  // Replaces the text in the token box. The address is a link that the program opens.
  await firefox.click(150, 110);
  await firefox.act('key', 'keys', [{ type: 'keyDown', value: '\uE009' }, { type: 'keyDown', value: 'a' }, { type: 'keyUp', value: 'a' }, { type: 'keyUp', value: '\uE009' }]);
  await firefox.type('whales sing');
  await firefox.until("location.hash.startsWith('#scene=')", 'an address of the scene');
  await sleep(1500);
  const drawing = join(folder, 'firefox.svg');
  execFileSync(program, ['render', await firefox.evaluate('location.hash'), '--size', '1600x960', '--output', drawing]);
  assert.match(readFileSync(drawing, 'utf8'), />whales</);
  console.log('ok   What is typed in Firefox is tokens, and its address a link');
} catch (error) {
  failed = true;
  console.log(`FAIL Firefox: ${error.message}`);
  writeFileSync(join(folder, 'firefox.png'), await firefox.picture());
}
await firefox.close();
process.exit(failed ? 1 : 0);
