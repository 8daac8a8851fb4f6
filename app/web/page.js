// The page around the program: unpacks it, passes browser input to it, and provides the services it requests.
// Data from links, files or the clipboard goes to the program as text or bytes, never into the page.
'use strict';
const headscopeBegan = performance.now();
const kThreads = document.documentElement.dataset.threads === 'yes';
// A page in a frame belongs to the page around it: it keeps nothing in the browser's storage, asks nothing when it
// is closed, and takes the focus and the wheel only once it is clicked.
const kFramed = parent !== window;

class HeadscopePage {
  constructor() {
    this.say = document.getElementById('say');
    this.typed = document.getElementById('typed');
    this.unsaved = false;
    this.frames = [];        // milliseconds of the last 1000 frames
    this.firstFrame = 0;     // milliseconds from the script's start
    this.nextIn = 0;
    this.opening = false;    // a file from the page around this one
    this.heard = Promise.resolve();  // its messages, one after the other
    this.own = new Map();    // files from outside or already offered: path to time and size
    this.kept = new Map();   // contents of the browser's storage
    this.fragment = '';
    this.chosen = '';        // in the browser's dialog for files
    this.held = new Set();   // unsaved work locked by this tab
    // Whether work on a suspendable stack can wait for the browser; and the suspended work.
    this.rests = !kThreads && typeof WebAssembly.Suspending === 'function';
    this.resting = [];
    this.turns = new MessageChannel();
    this.turns.port1.onmessage = () => this.turn();
    this.posted = false;
  }

  // Texts and files.

  bytesOf(id) {
    const text = atob(document.getElementById(id).textContent), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  }
  async unpacked(id) {
    const stream = new Blob([this.bytesOf(id)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    document.getElementById(id).remove();
    return bytes;
  }
  call(name, text = '') { Module.ccall(name, null, ['number', 'string'], [this.program, text]); }

  writeFiles(bytes) {
    const size = new DataView(bytes.buffer).getUint32(0, true), begin = 4 + size;
    for (const file of JSON.parse(new TextDecoder().decode(bytes.subarray(4, begin)))) {
      const folder = file.path.slice(0, file.path.lastIndexOf('/'));
      const packed = bytes.subarray(begin + file.at, begin + file.at + file.size);
      FS.createPath('/', folder.slice(1), true, true);
      FS.writeFile(file.path, file.path.endsWith('.safetensors') ? this.fromPlanes(packed) : packed, { canOwn: false });
    }
  }
  // Four-byte numbers are stored with all first bytes first, then all second bytes, and so on.
  fromPlanes(packed) {
    const bytes = new Uint8Array(packed.length);
    for (let plane = 0, at = 0; plane < 4; ++plane)
      for (let i = plane; i < bytes.length; i += 4) bytes[i] = packed[at++];
    return bytes;
  }

  // Services for the program.

  copy(text) {
    const byHand = () => {
      this.typed.value = text;
      this.typed.select();
      document.execCommand('copy');
      this.typed.value = '';
      Module.canvas.focus();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(byHand);
    else byHand();
  }
  fullScreen(full) {
    const done = full ? document.documentElement.requestFullscreen?.() : document.fullscreenElement && document.exitFullscreen();
    done?.catch?.(() => {});
  }
  address(fragment) {
    if (fragment === this.fragment) return;
    this.fragment = fragment;
    this.tell({ scene: fragment });
    try { history.replaceState(null, '', fragment || location.pathname + location.search); } catch { /* a page in a frame may not */ }
  }
  typing(types, x, y, height) {
    Object.assign(this.typed.style, { left: `${x}px`, top: `${y}px`, height: `${height}px`, fontSize: `${height}px` });
    const box = types ? this.typed : Module.canvas;
    if (document.activeElement !== box) box.focus({ preventScroll: true });
  }
  frame(milliseconds, nextIn) {
    if (!this.firstFrame) {
      this.firstFrame = performance.now() - headscopeBegan;
      this.say.remove();
    }
    this.frames.push(milliseconds);
    if (this.frames.length > 1000) this.frames.shift();
    this.nextIn = nextIn;
    if (this.opening && nextIn > 0) {
      this.opening = false;
      this.tell({ opened: performance.now() - headscopeBegan });
    }
    this.turnSoon();
  }

  // Reading this state back would wait for the graphics process to finish all earlier drawing, so the last
  // values set are remembered instead.
  rememberDrawingState() {
    const gl = WebGL2RenderingContext.prototype, last = new Map();
    const remember = (method, ...names) => {
      const set = gl[method];
      gl[method] = function (...values) {
        if (names.length === 1) last.set(gl[names[0]], values);
        else names.forEach((name, i) => last.set(gl[name], values[i % values.length]));
        set.apply(this, values);
      };
    };
    remember('viewport', 'VIEWPORT');
    remember('scissor', 'SCISSOR_BOX');
    remember('clearColor', 'COLOR_CLEAR_VALUE');
    remember('activeTexture', 'ACTIVE_TEXTURE', 'ACTIVE_TEXTURE');
    for (const method of ['blendFunc', 'blendFuncSeparate']) remember(method, 'BLEND_SRC_RGB', 'BLEND_DST_RGB', 'BLEND_SRC_ALPHA', 'BLEND_DST_ALPHA');
    for (const method of ['blendEquation', 'blendEquationSeparate']) remember(method, 'BLEND_EQUATION_RGB', 'BLEND_EQUATION_ALPHA');
    const read = gl.getParameter;
    gl.getParameter = function (name) { return last.has(name) ? last.get(name) : read.call(this, name); };
  }

  // Work: each turn starts waiting work or, if there is none, resumes the work suspended last. Its stack lies
  // on top of the stacks suspended earlier.

  programBegan(program, work) {
    this.program = program;
    this.work = this.rests ? WebAssembly.promising(work) : async program => work(program);
  }
  turnSoon() {
    if (this.posted || this.problem) return;
    this.posted = true;
    this.turns.port2.postMessage(null);
  }
  turn() {
    this.posted = false;
    const resting = this.resting.length;
    this.work(this.program).then(worked => worked && this.turnSoon(), error => this.failed('the program ended: ' + error.message));
    if (resting > 0 && this.resting.length === resting) this.resting.pop()();
  }
  // Suspends the caller. Its stack resumes when it is the last one suspended.
  rest() {
    this.turnSoon();
    return new Promise(goOn => this.resting.push(goOn));
  }
  failed(why) {
    this.tell({ failed: why });
    document.body.append(this.say);
    this.say.textContent = 'Headscope: ' + why;
    this.problem = why;
  }

  // Downloads: files that the program wrote.

  * walk(folder, hidden) {
    let names;
    try { names = FS.readdir(folder); } catch { return; }
    for (const name of names) {
      if (name === '.' || name === '..' || (!hidden && name[0] === '.')) continue;
      const path = folder + '/' + name, at = FS.lstat(path);
      if (FS.isDir(at.mode)) yield* this.walk(path, hidden);
      else yield [path, at.mtime.getTime() + ':' + at.size];
    }
  }
  downloads() {
    for (const [path, state] of this.walk('/files', false)) {
      if (this.own.get(path) === state) continue;
      this.own.set(path, state);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([FS.readFile(path)], { type: 'application/octet-stream' }));
      link.download = path.slice(path.lastIndexOf('/') + 1);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    }
  }

  // Settings and unsaved work: hidden files, kept as text in the browser's storage.

  keep() {
    if (kFramed) return;
    const seen = new Set();
    for (const folder of ['/files/.config', '/files/.local'])
      for (const [path, state] of this.walk(folder, true)) {
        seen.add(path);
        if (this.kept.get(path) === state) continue;
        this.kept.set(path, state);
        this.hold(path);
        try { localStorage.setItem('headscope:' + path, FS.readFile(path, { encoding: 'utf8' })); } catch { /* no storage, or full */ }
      }
    for (const path of this.kept.keys())
      if (!seen.has(path)) {
        this.kept.delete(path);
        try { localStorage.removeItem('headscope:' + path); } catch { /* no storage */ }
      }
  }
  hold(path) {  // so that another tab doesn't offer it
    if (!path.includes('/recovery/') || this.held.has(path)) return;
    this.held.add(path);
    navigator.locks?.request('headscope:' + path, () => new Promise(() => {}));
  }
  async restore() {
    if (kFramed) return;
    const locks = await navigator.locks?.query().catch(() => null);
    const held = new Set((locks?.held ?? []).map(lock => lock.name));
    try {
      for (let i = 0; i < localStorage.length; ++i) {
        const key = localStorage.key(i), path = key.slice('headscope:'.length);
        if (!key.startsWith('headscope:/files/.') || held.has(key)) continue;
        FS.createPath('/', path.slice(1, path.lastIndexOf('/')), true, true);
        FS.writeFile(path, localStorage.getItem(key));
        this.kept.set(path, 'restored');
      }
    } catch { /* no storage */ }
  }

  // Files from outside.

  asks(endings) {  // '' asks for a folder
    const input = document.createElement('input');
    input.type = 'file';
    input.multiple = true;
    input.accept = endings;
    input.webkitdirectory = !endings;
    input.onchange = async () => {
      const files = [...input.files].map(file => [file.webkitRelativePath || file.name, file]);
      if (await this.take(files)) this.chosen = '/files/' + files[0][0].split('/')[0];
    };
    input.click();
  }
  async entries(entry, path, found) {
    if (entry.isFile) {
      found.push([path + entry.name, await new Promise((done, failed) => entry.file(done, failed))]);
      return;
    }
    const reader = entry.createReader();
    for (let some; (some = await new Promise((done, failed) => reader.readEntries(done, failed))).length;)
      for (const one of some) await this.entries(one, path + entry.name + '/', found);
  }
  async drop(event) {
    event.preventDefault();
    const entries = [...event.dataTransfer.items].filter(item => item.kind === 'file').map(item => item.webkitGetAsEntry());
    const found = [];
    try {
      for (const entry of entries) await this.entries(entry, '', found);
      if (await this.take(found)) for (const entry of entries) this.call('headscopeDrop', '/files/' + entry.name);
    } catch (error) {
      this.call('headscopeSay', 'What was dropped can’t be read: ' + error.message);
    }
  }
  // The program holds opened files in memory, so the size is checked before anything is read.
  async take(files) {
    const most = 768 * 2 ** 20, bytes = files.reduce((sum, [, file]) => sum + file.size, 0);
    if (bytes > most) {
      const mib = Math.ceil(bytes / 2 ** 20).toLocaleString('en');
      this.call('headscopeSay', `In a browser Headscope opens files up to 768 MiB, and these have ${mib} MiB. The installed program opens them.`);
      return false;
    }
    for (const [name, file] of files) {
      const path = '/files/' + name;
      FS.createPath('/', path.slice(1, path.lastIndexOf('/')), true, true);
      FS.writeFile(path, new Uint8Array(await file.arrayBuffer()));
      const at = FS.lstat(path);
      this.own.set(path, at.mtime.getTime() + ':' + at.size);
    }
    return files.length > 0;
  }

  // The page around this one, if there is one. Messages to it and from it are objects with headscope: 1 and any of
  //   to this page:   theme: "light" or "dark"; embed: true (one page without tools); scene: a link's part from "#" on;
  //                   open: { name, bytes: ArrayBuffer }, a file; select: { layer, head, query, key }, any of them
  //   from this page: ready: true, once it listens; opened: milliseconds until a file's first picture; selected: as
  //                   select, once it has rested; scene: the link that holds what is shown, "" if it is too long for one;
  //                   left: true, after Escape; failed: why it can't go on.
  // A file is opened before a scene is read and anything is selected.

  tell(message) { if (kFramed) parent.postMessage({ headscope: 1, ...message }, '*'); }
  async told({ theme, embed, open, scene, select }) {
    if (theme) this.call('headscopeTheme', theme);
    if (embed) this.call('headscopeEmbed');
    if (open) {
      const name = open.name.replace(/[^\w.-]/g, '_');
      if (await this.take([[name, new Blob([open.bytes])]])) this.call('headscopeGive', '/files/' + name);
      this.opening = true;
    }
    if (typeof scene === 'string') this.call('headscopeOpenLink', scene);
    if (select) this.call('headscopeSelect', ['layer', 'head', 'query', 'key'].map(name => Math.trunc(select[name] ?? -1)).join(' '));
  }
  listenToFrame() {
    addEventListener('message', event => { if (event.source === parent && event.data?.headscope === 1) this.heard = this.heard.then(() => this.told(event.data)); });
    addEventListener('wheel', event => document.hasFocus() || event.stopImmediatePropagation(), { capture: true });
    addEventListener('keydown', event => event.key === 'Escape' && this.tell({ left: true }), { capture: true });
    this.tell({ ready: true });
  }

  // Events.

  listen() {
    const canvas = Module.canvas;
    canvas.addEventListener('contextmenu', event => event.preventDefault());
    canvas.addEventListener('mousedown', () => canvas.focus());
    addEventListener('paste', event => this.call('headscopePaste', event.clipboardData.getData('text')));
    this.typed.addEventListener('compositionend', event => {
      this.call('headscopeType', event.data);
      this.typed.value = '';
    });
    this.typed.addEventListener('input', event => {  // from an on-screen keyboard
      if (event.isComposing) return;
      if (event.inputType === 'insertText' && event.data) this.call('headscopeType', event.data);
      this.typed.value = '';
    });
    addEventListener('dragover', event => event.preventDefault());
    addEventListener('drop', event => this.drop(event));
    addEventListener('hashchange', () => {
      if (location.hash === this.fragment) return;
      this.fragment = location.hash;
      if (location.hash.length > 1) this.call('headscopeOpenLink', location.hash);
    });
    document.addEventListener('fullscreenchange', () => document.fullscreenElement || this.call('headscopeLeftFullScreen'));
    addEventListener('beforeunload', event => {
      this.keep();
      if (this.unsaved && !kFramed) event.preventDefault();
    });
  }

  begun() {
    this.listen();
    this.call('headscopeLinkAddress', location.href.split('#')[0]);
    const given = document.getElementById('given');
    if (given) {
      const path = '/files/' + given.dataset.name;
      FS.writeFile(path, this.bytesOf('given'));
      const at = FS.lstat(path);
      this.own.set(path, at.mtime.getTime() + ':' + at.size);
      this.call('headscopeGive', path);
    }
    this.fragment = location.hash;
    if (location.hash.length > 1) this.call('headscopeOpenLink', location.hash);
    if (new URLSearchParams(location.search).has('embed')) this.call('headscopeEmbed');
    if (kFramed) this.listenToFrame();
    else Module.canvas.focus();
  }

  missing() {
    if (typeof WebAssembly !== 'object') return 'WebAssembly, which Headscope runs as';
    if (typeof DecompressionStream !== 'function') return 'DecompressionStream, which Headscope is unpacked with';
    if (!document.createElement('canvas').getContext('webgl2')) return 'WebGL 2, which Headscope draws with';
    // A module that sums a vector of four numbers.
    const simd = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
    if (!WebAssembly.validate(new Uint8Array(simd))) return 'WebAssembly with vectors (SIMD), which Headscope computes with';
    return '';
  }
}

const Module = { canvas: document.getElementById('canvas'), page: new HeadscopePage(), noInitialRun: true };
let FS;

async function begin(page) {
  if (kThreads && !globalThis.crossOriginIsolated)
    throw new Error('this page computes on threads, for which its server has to send the headers that app/web/serve sends.');
  const missing = page.missing();
  if (missing) throw new Error(`this browser has no ${missing}. A current Firefox, Chrome, Edge or Safari has it.`);
  const [program, files] = await Promise.all([page.unpacked('program'), page.unpacked('files')]);
  page.rememberDrawingState();
  Module.wasmBinary = program;
  Module.mainScriptUrlOrBlob = 'headscope.js';
  Module.onAbort = why => page.failed('the program ended: ' + why);
  Module.preRun = [() => Object.assign(Module.ENV, { HEADSCOPE_ASSETS: '/headscope', HOME: '/files' })];
  await headscopeProgram(Module);
  FS = Module.FS;
  page.writeFiles(files);
  FS.mkdir('/files');
  FS.chdir('/files');
  await page.restore();
  Module.callMain([]);
  if (!page.problem) page.begun();
}
begin(Module.page).catch(error => Module.page.failed(error.message));
