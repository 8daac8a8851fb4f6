#include "app/platform/process.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <csignal>
#include <cstdio>

namespace headscope::app {

void openStandardStreams() {
  for (std::FILE* const stream : {stdin, stdout, stderr}) {
    if (_fileno(stream) < 0) (void)std::freopen("NUL", stream == stdin ? "rb" : "wb", stream);
    _setmode(_fileno(stream), _O_BINARY);  // lines end as they are written
  }
  SetConsoleOutputCP(CP_UTF8);
  const HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
  if (DWORD mode = 0; GetConsoleMode(console, &mode))
    SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

void requireAddressSpace(double) {}

// No call ends the program as Xlib's do.
ExitWatch::ExitWatch(std::function<void()>) {}
ExitWatch::~ExitWatch() = default;

struct QuitSignals::State {};

namespace {

/// Windows gives its events to a function alone. There is one window's QuitSignals at a time.
std::function<void(int)> quitAsked;

BOOL WINAPI onEvent(DWORD event) {
  quitAsked(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
  // Once this returns, the system ends a program whose console was closed.
  constexpr DWORD kToSave = 4000;  // milliseconds
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(kToSave);
  return TRUE;
}

}  // namespace

QuitSignals::QuitSignals(std::function<void(int)> asked) {
  quitAsked = std::move(asked);
  SetConsoleCtrlHandler(onEvent, TRUE);
}

QuitSignals::~QuitSignals() {
  SetConsoleCtrlHandler(onEvent, FALSE);
}

}  // namespace headscope::app
