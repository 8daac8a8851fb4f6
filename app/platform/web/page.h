#pragma once

#include <atomic>

// What the page around the program does for it; app/web/page_library.js has it. Texts are UTF-8.

extern "C" {
/// What the page hands back with each call, and does some of the work that waits; whether there was any.
void headscopePageBegun(void* program, int (*work)(void* program));
/// To the system's clipboard.
void headscopePageCopy(const char* text);
/// "text", "none" or "default".
void headscopePageCursor(const char* shape);
void headscopePageFullScreen(int full);
/// Whether the system prefers light colours.
int headscopePageLight();
/// The part of the page's address from "#" on, without an entry in the browser's history.
void headscopePageAddress(const char* fragment);
/// Whether closing the page asks back.
void headscopePageUnsaved(int unsaved);
/// Whether headscopePageRest() lets the browser go on.
int headscopePageRests();
/// Returns after the browser had its turn. Only inside headscopeWork(), whose stack waits meanwhile.
void headscopePageRest();
/// Draws an SVG document that fills width × height pixels as RGBA to `rgba`; 0 where it can't. Waits like
/// headscopePageRest().
int headscopePageDraw(const char* svg, int width, int height, unsigned char* rgba);
/// The same where there are threads, from any of them: returns at once, and `outcome` becomes 1, or 0 where
/// it can't be drawn.
void headscopePageBeginDraw(const char* svg, int width, int height, unsigned char* rgba,
                            std::atomic<int>* outcome);
/// Keeps the files of the settings and of unsaved work in the browser's storage.
void headscopePageKeep();
/// Offers each file below the folder for files that was written by the program as a download.
void headscopePageDownloads();
/// Opens the browser's own dialog for files with those endings, ".json,.csv", or for a folder: "".
void headscopePageAskForFiles(const char* endings);
/// The path of the first file, or of the folder, that was chosen in it since the last call, to be freed; null
/// where none was.
char* headscopePageTakeFile();
/// Whether text is typed: a screen that is touched shows its keyboard, and an input method its candidates below the
/// caret, whose top is at x, y and which is `height` high, in the page's own pixels.
void headscopePageTyping(int types, float x, float y, float height);
/// The first frame is drawn: `milliseconds` it took. Later ones as well, for tests.
void headscopePageFrame(double milliseconds, double nextIn);
/// The program can't begin or go on: says why in place of it.
void headscopePageFailed(const char* why);
}
