#include "app/platform/film_program.h"

#include <io.h>

#include <algorithm>
#include <cerrno>

#include "app/platform/windows/spawn.h"
#include "attention/formats/files/system_files.h"

namespace headscope::app {

namespace {

/// A file for what another program prints, which is removed with its handle.
Handle printedFile() {
  const std::filesystem::path path = attention::newTemporaryFile(".txt");
  return Handle(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE | DELETE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                            FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr));
}

std::string textIn(const Handle& file) {
  std::string text(std::size_t{1} << 16, '\0');
  OVERLAPPED start{};
  DWORD got = 0;
  if (!file || !ReadFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &got, &start)) got = 0;
  text.resize(got);
  return text;
}

}  // namespace

struct FilmProgram::State {
  std::string name;
  Handle said, printed, process;
  Handle pipe;  ///< ffmpeg's standard input
  bool succeeded = false;
};

FilmProgram::FilmProgram(const attention::Replacement& film) : state_(std::make_unique<State>()) {
  // ffmpeg opens the hidden file too.
  constexpr DWORD kLongest = 32768;
  std::wstring name(kLongest, L'\0');
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(film.descriptor()));
  name.resize(GetFinalPathNameByHandleW(file, name.data(), kLongest, FILE_NAME_NORMALIZED));
  if (name.size() < 4) return;  // run() says so
  // \\?\C:\a.mp4, or \\?\UNC\server\share\a.mp4
  const bool remote = name.starts_with(L"\\\\?\\UNC\\");
  state_->name = std::filesystem::path(remote ? L"\\" + name.substr(7) : name.substr(4)).string();
}

FilmProgram::~FilmProgram() {
  (void)end();
}

const std::string& FilmProgram::filmName() const {
  return state_->name;
}

int FilmProgram::run(const std::vector<std::string>& words, bool fed) {
  State& state = *state_;
  state.said = printedFile();
  state.printed = printedFile();
  Pipe pipe = fed ? newPipe() : Pipe{openNothing(), Handle()};
  if (state.name.empty() || !state.said || !state.printed || !pipe.read) return EIO;
  auto [process, error] =
      startProgram("ffmpeg", words, {pipe.read.get(), state.printed.get(), state.said.get()});
  state.pipe = std::move(pipe.write);
  state.process = std::move(process);
  return error;
}

bool FilmProgram::feed(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    constexpr std::size_t kPart = std::size_t{1} << 20;
    DWORD written = 0;
    const auto part = static_cast<DWORD>(std::min(kPart, bytes.size()));
    if (!WriteFile(state_->pipe.get(), bytes.data(), part, &written, nullptr)) return false;
    bytes = bytes.subspan(written);
  }
  return true;
}

bool FilmProgram::end() {
  State& state = *state_;
  state.pipe.close();
  if (!state.process) return state.succeeded;
  state.succeeded = waitFor(state.process) == 0;
  state.process.close();
  return state.succeeded;
}

std::string FilmProgram::said() const {
  return textIn(state_->said);
}

std::string FilmProgram::printed() const {
  return textIn(state_->printed);
}

}  // namespace headscope::app
