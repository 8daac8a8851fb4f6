#include "attention/formats/files/system_files.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <cerrno>
#include <system_error>

namespace headscope::attention {

namespace {

int errorNumber(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
      return ENOENT;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
      return ENOMEM;
    case ERROR_LOCK_VIOLATION:
      return EWOULDBLOCK;
    case ERROR_TOO_MANY_OPEN_FILES:
      return EMFILE;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    case ERROR_SHARING_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
      return EBUSY;
    case ERROR_WRITE_PROTECT:
      return EROFS;
    case ERROR_ACCESS_DENIED:
      return EACCES;
    default:
      return EIO;
  }
}

int errorOf(BOOL succeeded) {
  return succeeded ? 0 : errorNumber(GetLastError());
}

HANDLE handleOf(int descriptor) {
  return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
}

Descriptor opened(const std::filesystem::path& path, DWORD access, DWORD how) {
  // Everything is shared, so that others may read, write, rename and remove the file, as elsewhere. The flag
  // lets folders be opened, which are then refused by what they are.
  const HANDLE handle =
      CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, how,
                  FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  const int descriptor =
      handle == INVALID_HANDLE_VALUE ? -1 : _open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_BINARY);
  if (handle == INVALID_HANDLE_VALUE)
    errno = errorNumber(GetLastError());
  else if (descriptor < 0)
    CloseHandle(handle);
  return Descriptor(descriptor);
}

/// From either of two structures with the same names.
template <typename Information>
FileState stateIn(const Information& info) {
  const auto whole = [](DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; };
  const bool folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  const std::uint64_t time = whole(info.ftLastWriteTime.dwHighDateTime, info.ftLastWriteTime.dwLowDateTime);
  return {folder ? unsigned{S_IFDIR} : unsigned{S_IFREG}, whole(info.nFileSizeHigh, info.nFileSizeLow),
          static_cast<std::int64_t>(100 * time)};
}

BOOL WINAPI onEnd(DWORD) {
  removeTemporaryFiles();
  return FALSE;  // the next handler ends the program
}

}  // namespace

std::string systemText(int code) {
  // A file whose bytes are mapped can't be replaced, nor one that another program doesn't share.
  if (code == EBUSY) return "It is in use, by a model that is open or by another program";
  return std::generic_category().message(code);
}

bool isRegular(unsigned mode) {
  return S_ISREG(mode);
}

const char* kindOfFile(unsigned mode) {
  return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : "a device";
}

int stateOf(int descriptor, FileState& state) {
  const HANDLE handle = handleOf(descriptor);
  const DWORD type = GetFileType(handle);
  if (type != FILE_TYPE_DISK) {
    state.mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR;
    return 0;
  }
  BY_HANDLE_FILE_INFORMATION info{};
  if (!GetFileInformationByHandle(handle, &info)) return errorNumber(GetLastError());
  state = stateIn(info);
  return 0;
}

int stateOf(const std::filesystem::path& path, FileState& state) {
  // Opening a file only for this takes many times as long. A link's own attributes aren't those of its file,
  // and a device has no time.
  WIN32_FILE_ATTRIBUTE_DATA info{};
  if (!GetFileAttributesExW(path.c_str(), GetFileExInfoStandard, &info)) return errorNumber(GetLastError());
  const bool link = (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  if (!link && (info.ftLastWriteTime.dwHighDateTime | info.ftLastWriteTime.dwLowDateTime) != 0) {
    state = stateIn(info);
    return 0;
  }
  const Descriptor file = opened(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING);
  return file.get() < 0 ? errno : stateOf(file.get(), state);
}

int checkWritable(const std::filesystem::path& path) {
  const DWORD attributes = GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return errorNumber(GetLastError());
  return (attributes & FILE_ATTRIBUTE_READONLY) != 0 ? EACCES : 0;
}

Descriptor openToRead(const std::filesystem::path& path) {
  return opened(path, GENERIC_READ, OPEN_EXISTING);
}

Descriptor openToWrite(const std::filesystem::path& path, Creation creation, bool) {
  return opened(path, GENERIC_READ | GENERIC_WRITE, creation == Creation::always ? CREATE_NEW : OPEN_ALWAYS);
}

Descriptor openUnnamed(const std::filesystem::path&) {
  errno = EOPNOTSUPP;
  return Descriptor(-1);
}

int nameFile(int, const std::filesystem::path&) {
  return EOPNOTSUPP;
}

std::ptrdiff_t readAt(int descriptor, void* to, std::size_t bytes, std::uint64_t offset) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD got = 0;
  if (ReadFile(handleOf(descriptor), to, static_cast<DWORD>(bytes), &got, &at)) return got;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = errorNumber(GetLastError());
  return -1;
}

int lockFile(int descriptor) {
  // Locked ranges can't be read through other handles, so the range is beyond what a file has.
  OVERLAPPED at{};
  at.OffsetHigh = 0x4000'0000;
  return errorOf(
      LockFileEx(handleOf(descriptor), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at));
}

int flushFile(int descriptor) {
  return errorOf(FlushFileBuffers(handleOf(descriptor)));
}

void flushFolder(const std::filesystem::path&) {}  // moveFile() does

int setMode(int, unsigned) {
  return 0;
}

int moveFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  // Virus scanners open new files for a moment.
  constexpr int kAttempts = 20;
  constexpr DWORD kPause = 10;  // milliseconds
  int code = 0;
  for (int i = 0; i < kAttempts; ++i, Sleep(kPause)) {
    code = errorOf(MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH));
    if (code != EBUSY && code != EACCES) return code;
  }
  // The system refuses alike what nobody may replace and what is mapped.
  return checkWritable(to) == 0 ? EBUSY : code;
}

int processId() {
  return static_cast<int>(GetCurrentProcessId());
}

bool processRuns(int process) {
  const HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
  if (!handle) return GetLastError() == ERROR_ACCESS_DENIED;
  const bool runs = WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
  CloseHandle(handle);
  return runs;
}

void removeTemporaryFilesOnSignals() {
  SetConsoleCtrlHandler(onEnd, TRUE);
}

}  // namespace headscope::attention
