// Headscope's page in a frame of a notebook; _view.py is its other side. app/web/page.js lists the messages between the
// frame and this script.

// The page, once per browser tab: its name to a promise of a Blob. anywidget imports this script anew for each view, so
// that a variable of the script would keep nothing.
const kept = (globalThis[Symbol.for('headscope.pages')] ??= new Map());

// Asks Python for 'page' or 'data' of that name.
function ask(model, want, name) {
  return new Promise(done => {
    const told = (content, buffers) => {
      if (content[want] !== name) return;
      model.off('msg:custom', told);
      done(buffers[0]);
    };
    model.on('msg:custom', told);
    model.send({ want });
  });
}

function page(model) {
  const name = model.get('_page_name');
  if (!kept.has(name)) kept.set(name, ask(model, 'page', name).then(bytes => new Blob([bytes], { type: 'text/html' })));
  return kept.get(name);
}

function notebookTheme() {
  const lab = document.body.dataset.jpThemeLight, code = document.body.dataset.vscodeThemeKind;
  if (lab !== undefined) return lab === 'true' ? 'light' : 'dark';
  if (code !== undefined) return code.includes('light') ? 'light' : 'dark';
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function render({ model, el }) {
  const frame = document.createElement('iframe'), ends = [];
  Object.assign(frame.style, { width: '100%', border: '0', display: 'block', visibility: 'hidden' });
  frame.title = 'Headscope';
  frame.allow = 'clipboard-write; fullscreen';
  el.append(frame);

  const on = (names, act) => {
    for (const name of names.split(' ')) {
      model.on('change:' + name, act);
      ends.push(() => model.off('change:' + name, act));
    }
  };
  const tell = (message, moved = []) => frame.contentWindow?.postMessage({ headscope: 1, ...message }, '*', moved);
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const still = display => {
    for (const each of document.querySelectorAll('.headscope-still-' + model.get('_still'))) each.style.display = display;
  };
  const theme = () => tell({ theme: model.get('theme') === 'auto' ? notebookTheme() : model.get('theme') });
  const resize = () => { frame.style.height = model.get('height') + 'px'; };
  // The page counts layers with weights.
  const numbers = () => model.get('_numbers');
  let told = '', heard = '';  // the selection and the scene that the page knows, so that neither goes back and forth
  let opened = false;         // the page shows what it was given; before, it shows its own scene and is hidden
  const select = () => {
    const { layer, ...rest } = model.get('selection'), text = JSON.stringify(model.get('selection'));
    if (text === told || text === '{}') return;
    told = text;
    tell({ select: layer === undefined ? rest : { layer: numbers().indexOf(layer), ...rest } });
  };
  const scene = () => {
    if (!model.get('scene') || model.get('scene') === heard) return;
    heard = model.get('scene');
    tell({ scene: heard });
  };
  const open = async () => {
    const bytes = await ask(model, 'data', model.get('_data_name'));
    const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    tell({ open: { name: 'attention.safetensors', bytes: copy } }, [copy]);
  };
  const begin = async () => {
    theme();
    if (!model.get('tools')) tell({ embed: true });
    await open();
    scene();
    select();
  };
  const hear = event => {
    if (event.source !== frame.contentWindow || event.data?.headscope !== 1) return;
    const { ready, selected, scene, failed, left } = event.data;
    if (ready) begin();
    if (event.data.opened || failed) {
      opened = true;
      frame.style.visibility = '';
      still('none');
      model.send({ status: failed ?? 'shown' });
    }
    if (left) el.closest('[tabindex]')?.focus();
    const ends = Object.entries(model.get('_ends'));
    if (selected && ends.every(([name, end]) => selected[name] < end)) {
      const mine = { ...selected, layer: numbers()[selected.layer] ?? numbers()[0] };
      told = JSON.stringify(mine);
      set('selection', mine);
    }
    if (scene !== undefined && opened) {
      heard = scene;  // not sent back: it would replace what the page shows
      set('scene', scene);
    }
  };
  addEventListener('message', hear);
  const themes = new MutationObserver(theme);
  themes.observe(document.body, { attributes: true, attributeFilter: ['data-jp-theme-light', 'data-vscode-theme-kind'] });
  on('height', resize);
  on('theme', theme);
  on('selection', select);
  on('scene', scene);
  on('_data_name', open);

  resize();
  page(model).then(blob => {
    const url = URL.createObjectURL(blob);
    frame.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
    frame.src = url;
  });
  return () => {
    removeEventListener('message', hear);
    themes.disconnect();
    for (const end of ends) end();
    still('');
    frame.remove();
  };
}

export default { render };
