#pragma once

// Services of the page around the program, implemented in app/web/page_library.js. Texts are UTF-8.

extern "C" {
/// Tells the page that the program has started. The page passes `program` to each call back. `work` does some
/// of the pending work and returns whether there was any.
void headscopePageBegun(void* program, int (*work)(void* program));
/// Copies to the system clipboard.
void headscopePageCopy(const char* text);
/// "text", "none" or "default".
void headscopePageCursor(const char* shape);
void headscopePageFullScreen(int full);
/// Whether the system prefers light colours.
int headscopePageLight();
/// Sets the page address from "#" on, without adding to the browser's history.
void headscopePageAddress(const char* fragment);
/// Sets whether closing the page asks for confirmation.
void headscopePageUnsaved(int unsaved);
/// Whether headscopePageRest() gives the browser a turn.
int headscopePageRests();
/// Returns after the browser had its turn. Call only inside headscopePageBegun()'s `work`, whose stack is
/// suspended meanwhile.
void headscopePageRest();
/// Saves the settings and unsaved work to the browser's storage.
void headscopePageKeep();
/// Offers each new or changed file that the program wrote below /files as a download.
void headscopePageDownloads();
/// Opens the browser's file dialog for the endings ".json,.csv", or for a folder if `endings` is "".
void headscopePageAskForFiles(const char* endings);
/// Returns the path of the first file, or of the folder, chosen since the last call; null if none was. The
/// caller frees it.
char* headscopePageTakeFile();
/// Sets whether text is being typed, so that touch screens show a keyboard. An input method shows its
/// candidates below the caret, whose top is at x, y with that height, in CSS pixels.
void headscopePageTyping(int types, float x, float y, float height);
/// Reports a drawn frame: its duration in milliseconds, and the seconds until the next one. The first frame
/// removes the loading message; the rest is for tests.
void headscopePageFrame(double milliseconds, double nextIn);
/// Reports the selected head and cell to the page around this one, if there is one.
void headscopePageSelected(int layer, int head, int query, int key);
/// Shows why the program can't start or go on.
void headscopePageFailed(const char* why);
}
