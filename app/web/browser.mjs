// Drives a headless Chromium for tests and pictures, directly through its DevTools protocol.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const sleep = milliseconds => new Promise(done => setTimeout(done, milliseconds));

export class Browser {
  // Renders in software, so that results are the same everywhere.
  static async start({ width = 1600, height = 960, scale = 1 } = {}) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'headscope-browser-'));
    browser.process = spawn('chromium', ['--headless=new', '--no-sandbox', '--no-first-run', '--disable-background-networking',
      '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--remote-debugging-pipe', '--mute-audio',
      `--window-size=${width},${height}`, `--force-device-scale-factor=${scale}`, `--user-data-dir=${browser.profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.listen(browser.process.stdio[4]);
    browser.metrics = { width, height, deviceScaleFactor: scale, mobile: false };
    return browser;
  }
  async openTab() {
    if (this.target) await this.send('Target.closeTarget', { targetId: this.target });
    this.session = undefined;
    ({ targetId: this.target } = await this.send('Target.createTarget', { url: 'about:blank' }));
    ({ sessionId: this.session } = await this.send('Target.attachToTarget', { targetId: this.target, flatten: true }));
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await this.send(domain + '.enable');
    await this.send('Page.bringToFront');
    await this.send('Emulation.setDeviceMetricsOverride', this.metrics);
    if (this.script) await this.send('Page.addScriptToEvaluateOnNewDocument', { source: this.script });
  }
  constructor() {
    this.waiting = new Map();
    this.requests = [];  // requested addresses
    this.problems = [];  // exceptions of the page, and what its policy blocked
    this.dialogs = 0;    // questions before leaving the page
    this.leaves = true;  // the answer to them
    this.downloads = [];
    this.script = '';    // runs in the page before its own scripts
    this.next = 0;
  }
  listen(stream) {
    let text = '';
    stream.on('data', data => {
      text += data;
      for (let end; (end = text.indexOf('\0')) >= 0; text = text.slice(end + 1)) this.hear(JSON.parse(text.slice(0, end)));
    });
  }
  hear(message) {
    if (message.id) {
      if (!this.waiting.has(message.id)) return;
      const { done, failed } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      message.error ? failed(new Error(message.error.message)) : done(message.result);
      return;
    }
    const { method, params } = message;
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Runtime.exceptionThrown') this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Log.entryAdded' && (params.entry.level === 'error' || /WebGL|GL_/.test(params.entry.text))) this.problems.push(params.entry.text);
    if (method === 'Page.downloadWillBegin' || method === 'Browser.downloadWillBegin') this.downloads.push(params.suggestedFilename);
    if (method === 'Page.fileChooserOpened') this.chooser?.(params);
    if (method === 'Page.javascriptDialogOpening') {
      this.dialogs += 1;
      this.send('Page.handleJavaScriptDialog', { accept: this.leaves });
    }
  }
  send(method, params = {}) {
    const id = ++this.next;
    const promise = new Promise((done, failed) => {
      this.waiting.set(id, { done, failed });
      setTimeout(() => this.waiting.delete(id) && failed(new Error(`${method} is not answered`)), 30000).unref();
    });
    const target = this.session && !method.startsWith('Target.') && !method.startsWith('Browser.') ? { sessionId: this.session } : {};
    this.process.stdio[3].write(JSON.stringify({ id, method, params, ...target }) + '\0');
    return promise;
  }
  async evaluate(expression) {
    const answer = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    return answer.result.value;
  }
  async until(expression, what, seconds = 120) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(50))
      if (await this.evaluate(expression).catch(() => false)) return;  // a page being left doesn't answer
    throw new Error(`waited ${seconds} s in vain: ${what}`);
  }
  // Opens the page in a new tab and waits until it is settled.
  async open(address) {
    await this.openTab();
    await this.send('Page.navigate', { url: address });
    await this.settled();
  }
  async settled() {
    await this.until("document.readyState === 'complete' && Module.page && (Module.page.problem || Module.page.firstFrame > 0)", 'the first frame');
    const problem = await this.evaluate('Module.page.problem');
    if (problem) throw new Error('the page says: ' + problem);
    await this.until('Module.page.nextIn > 0.02', 'the picture settles');
  }
  async picture() {
    return Buffer.from((await this.send('Page.captureScreenshot', { format: 'png' })).data, 'base64');
  }
  async key(key, { code = '', modifiers = 0, text } = {}) {
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, code, modifiers, text });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code, modifiers });
  }
  async type(text) {
    for (const letter of text) await this.key(letter, { text: letter });
  }
  // `points` is [[x, y], ...] of all fingers; empty when the last ones are lifted.
  async touch(type, points = []) {
    await this.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  }
  // Answers the browser's next file dialog with these files, or a folder.
  async giveFiles(...files) {
    await this.send('Page.setInterceptFileChooserDialog', { enabled: true });
    return new Promise((done, failed) => {
      setTimeout(() => failed(new Error('no dialog for files opened')), 30000).unref();
      this.chooser = async ({ backendNodeId }) => {
        await this.send('DOM.setFileInputFiles', { files, backendNodeId });
        done();
      };
    });
  }
  async mouse(type, x, y, button = 'none') {
    await this.send('Input.dispatchMouseEvent', { type, x, y, button, buttons: button === 'left' && type !== 'mouseReleased' ? 1 : 0, clickCount: button === 'none' ? 0 : 1 });
  }
  async close() {
    await this.send('Browser.close').catch(() => {});
    await new Promise(done => (this.process.exitCode === null ? this.process.once('exit', done) : done()));
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
