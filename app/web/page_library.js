// Implements app/platform/web/page.h by passing each call to the page's script (page.js).
mergeInto(LibraryManager.library, {
  headscopePageBegun: function (program, work) { Module.page.programBegan(program, wasmTable.get(work)); },
  headscopePageCopy: function (text) { Module.page.copy(UTF8ToString(text)); },
  headscopePageCursor: function (shape) { Module.canvas.style.cursor = UTF8ToString(shape); },
  headscopePageLight: function () { return matchMedia('(prefers-color-scheme: light)').matches; },
  headscopePageFullScreen: function (full) { Module.page.fullScreen(full); },
  headscopePageAddress: function (fragment) { Module.page.address(UTF8ToString(fragment)); },
  headscopePageUnsaved: function (unsaved) { Module.page.unsaved = unsaved !== 0; },
  headscopePageRests: function () { return Module.page.rests; },
  headscopePageRest: 'typeof WebAssembly.Suspending === "function" ? new WebAssembly.Suspending(function () { return Module.page.rest(); }) : function () {}',
  headscopePageKeep: function () { Module.page.keep(); },
  headscopePageDownloads: function () { Module.page.downloads(); },
  headscopePageAskForFiles: function (endings) { Module.page.asks(UTF8ToString(endings)); },
  headscopePageTakeFile__deps: ['malloc'],
  headscopePageTakeFile: function () {
    var path = Module.page.chosen;
    Module.page.chosen = '';
    if (!path) return 0;
    var bytes = lengthBytesUTF8(path) + 1, at = _malloc(bytes);
    stringToUTF8(path, at, bytes);
    return at;
  },
  headscopePageTyping: function (types, x, y, height) { Module.page.typing(types !== 0, x, y, height); },
  headscopePageFrame: function (milliseconds, nextIn) { Module.page.frame(milliseconds, nextIn); },
  headscopePageSelected: function (layer, head, query, key) { Module.page.tell({ selected: { layer: layer, head: head, query: query, key: key } }); },
  headscopePageFailed: function (why) { Module.page.failed(UTF8ToString(why)); },
});
