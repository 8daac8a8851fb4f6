// headscope.exe: the program without a console. What it would have written there, if it fails, is shown in a
// message.

#include <windows.h>

#include <cstdio>
#include <filesystem>

#include "app/commands/program.h"
#include "attention/formats/files/system_files.h"

namespace {

/// Gives the messages a file if they have no other place. Returns its path.
std::filesystem::path keepMessages() {
  const HANDLE place = GetStdHandle(STD_ERROR_HANDLE);
  if (place && GetFileType(place) != FILE_TYPE_UNKNOWN) return {};
  const std::filesystem::path file = headscope::attention::newTemporaryFile(".txt");
  return _wfreopen(file.c_str(), L"wb", stderr) ? file : "";
}

/// Shows the messages of a program that failed.
void show(const std::filesystem::path& messages) {
  std::fflush(stderr);
  const auto bytes = headscope::attention::readFile(messages);
  if (!bytes || bytes->empty()) return;
  const std::filesystem::path text(std::string(bytes->begin(), bytes->end()));  // UTF-8 to Windows' own
  MessageBoxW(nullptr, text.c_str(), L"Headscope", MB_OK | MB_ICONERROR);
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path messages = keepMessages();
  const int code = headscope::app::runProgram(argc, argv, HEADSCOPE_VERSION);
  if (!messages.empty()) {
    if (code != 0) show(messages);
    std::fclose(stderr);
    std::error_code ignored;
    std::filesystem::remove(messages, ignored);
  }
  return code;
}
