#include "app/platform/windows/spawn.h"

#include <cerrno>
#include <mutex>

namespace headscope::app {

namespace {

/// Quotes a word as programs read their command lines: backslashes are plain except before a quotation mark.
std::wstring quoted(const std::wstring& word) {
  std::wstring text = L"\"";
  std::size_t slashes = 0;
  for (const wchar_t c : word) {
    if (c == L'\\') {
      ++slashes;
      continue;
    }
    text.append(c == L'"' ? 2 * slashes + 1 : slashes, L'\\');
    slashes = 0;
    text += c;
  }
  text.append(2 * slashes, L'\\');
  return text + L'"';
}

/// So that no program inherits the streams of another that is started at the same time.
std::mutex starting;

/// Programs in this job end with the last handle of it, so also if this program is ended from outside.
HANDLE sharedJob() {
  static const HANDLE job = [] {
    const HANDLE made = CreateJobObjectW(nullptr, nullptr);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(made, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return made;
  }();
  return job;
}

}  // namespace

Pipe newPipe() {
  HANDLE read = nullptr, write = nullptr;
  if (!CreatePipe(&read, &write, nullptr, 1 << 16)) return {};
  return {Handle(read), Handle(write)};
}

Handle openNothing() {
  return Handle(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                            OPEN_EXISTING, 0, nullptr));
}

std::pair<Handle, int> startProgram(const std::filesystem::path& program,
                                    const std::vector<std::string>& words, const Streams& streams) {
  std::wstring line = quoted(program.wstring());
  for (const std::string& word : words) line += L' ' + quoted(std::filesystem::path(word).wstring());
  STARTUPINFOW how{};
  how.cb = sizeof how;
  how.dwFlags = STARTF_USESTDHANDLES;
  how.hStdInput = streams.input;
  how.hStdOutput = streams.output;
  how.hStdError = streams.error;
  PROCESS_INFORMATION made{};
  const std::lock_guard lock(starting);
  const auto inherit = [&](DWORD flag) {
    for (const HANDLE each : {streams.input, streams.output, streams.error})
      SetHandleInformation(each, HANDLE_FLAG_INHERIT, flag);
  };
  inherit(HANDLE_FLAG_INHERIT);
  const wchar_t* const file = program.has_parent_path() ? program.c_str() : nullptr;  // null: searched for
  const BOOL started = CreateProcessW(file, line.data(), nullptr, nullptr, TRUE, CREATE_NO_WINDOW, nullptr,
                                      nullptr, &how, &made);
  const DWORD error = GetLastError();
  inherit(0);
  if (!started)
    return {Handle(), error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ? ENOENT : EACCES};
  AssignProcessToJobObject(sharedJob(), made.hProcess);
  CloseHandle(made.hThread);
  return {Handle(made.hProcess), 0};
}

int waitFor(const Handle& process) {
  DWORD code = 1;
  WaitForSingleObject(process.get(), INFINITE);
  GetExitCodeProcess(process.get(), &code);
  return static_cast<int>(code);
}

}  // namespace headscope::app
