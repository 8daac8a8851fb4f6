// What has gone wrong on Windows and must not again. Prints what doesn't hold, and exits with 1 if anything
// doesn't.

#include <windows.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "attention/core/parallel.h"
#include "attention/formats/files/system_files.h"
#include "attention/kernels/buffer.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "tests/windows/platform.h"

namespace fs = std::filesystem;
using namespace headscope::attention;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

/// A file of that many bytes 7, in a new folder.
fs::path newFile(const fs::path& folder, const char* name, std::size_t bytes) {
  fs::create_directories(folder);
  fs::path file = folder / name;
  expect(writeFile(file, std::vector<std::uint8_t>(bytes, 7)).ok(), "a file is written");
  return file;
}

void pathsAreUtf8(const fs::path& folder) {
  expect(fs::path("é").native() == L"é", "é is one character");
  expect(fs::path("中文").native() == L"中文", "so are Chinese ones");
  expect(fs::path("🔬").native() == L"\xD83D\xDD2C", "a character beyond 16 bits is a pair");
  expect(fs::path("é中🔬").string() == "é中🔬", "a path is the text again");
  const fs::path file = newFile(folder, "übung 中文 🔬.bin", 3);
  std::ifstream byText(file.string(), std::ios::binary);
  expect(byText.good(), "a stream opens a file by its text");
  expect(fs::exists(file), "the file has that name on the disk");
}

void filesAreBytes(const fs::path& folder) {
  fs::create_directories(folder);
  const std::string file = (folder / "lines.txt").string();
  std::FILE* const lines = std::fopen(file.c_str(), "w");
  std::fputs("a\nb\x1A\n", lines);
  std::fclose(lines);
  expect(fs::file_size(file) == 5, "a library's file has the bytes that were written");
}

constexpr std::uint64_t kAlive = 0x1234'5678'9ABC'DEF0;
std::atomic<int> destroyed = 0, destroyedLate = 0;

/// An object of a thread's that notices if its memory was freed before it is destroyed.
struct Watched {
  std::uint64_t mark[8];
  std::vector<float> numbers;
  Watched() { std::fill(std::begin(mark), std::end(mark), kAlive); }
  ~Watched() {
    ++destroyed;
    for (const volatile std::uint64_t& each : mark)
      if (each != kAlive) ++destroyedLate;
  }
};

thread_local Watched first, second;

void threadsEnd() {
  constexpr int kThreads = 100;
  for (int i = 0; i < kThreads; ++i)
    std::thread([] {
      first.numbers.assign(1000, 1.0F);
      second.numbers.assign(1000, 1.0F);
    }).join();
  expect(destroyed == 2 * kThreads, "a thread's objects are destroyed");
  expect(destroyedLate == 0, "a thread's objects are destroyed while their memory is there");
}

void memoryIsAligned() {
  for (const std::size_t floats : {1U, 1000U, 100'000U, 3'000'000U}) {
    const kernels::Buffer buffer(floats);
    expect(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0, "memory for vectors is aligned");
  }
}

/// As if the drive of a file were gone: what can't be read is zeros, and the file says that it isn't intact.
void lostViewsAreZeros(const fs::path& folder) {
  constexpr std::size_t kBytes = std::size_t{3} << 20;
  const auto mapped = MappedFile::open(newFile(folder, "weights.bin", kBytes));
  expect(mapped.ok(), "a file is mapped");
  if (!mapped) return;
  const std::span<const std::uint8_t> bytes = mapped->bytes();
  expect(bytes[kBytes - 1] == 7 && mapped->intact().ok(), "its bytes are there");
  const ULONG_PTR fault[] = {0, reinterpret_cast<ULONG_PTR>(bytes.data()) + kBytes / 2, 0};
  RaiseException(static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR), 0, 3, fault);
  expect(bytes[0] == 0 && bytes[kBytes / 2] == 0 && bytes[kBytes - 1] == 0, "a lost file's bytes are zeros");
  expect(!mapped->intact().ok(), "a lost file isn't intact");
}

/// A mapped file can't be replaced; the sentence says why, and the file stays.
void mappedFilesStay(const fs::path& folder) {
  const fs::path file = newFile(folder, "open.bin", 100);
  {
    const auto mapped = MappedFile::open(file);
    const Status written = writeFile(file, "new");
    if (!written)
      expect(written.error().message.find("in use") != std::string::npos, written.error().message.c_str());
    expect(mapped.ok() && mapped->bytes()[0] == 7, "a mapped file keeps its bytes");
  }
  expect(writeFile(file, "new").ok() && fs::file_size(file) == 3, "it is replaced once it isn't mapped");
  // The folders of two tests, weights.bin and open.bin.
  expect(std::distance(fs::directory_iterator(folder), {}) == 4, "no hidden file remains");
}

void locksExclude(const fs::path& folder) {
  const fs::path file = folder / "a.lock";
  {
    const Descriptor first = openToWrite(file, Creation::ifMissing, true);
    const Descriptor second = openToWrite(file, Creation::ifMissing, true);
    expect(lockFile(first.get()) == 0, "a file is locked");
    expect(lockFile(second.get()) == EWOULDBLOCK, "only once");
    expect(readFile(file).ok(), "a locked file can be read");
  }
  fs::remove(file);
  expect(processRuns(processId()) && !processRuns(0x7FFFFFF0), "running processes are known");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return headscope::app::childMain(argc, argv);
  const fs::path folder = fs::temp_directory_path() / ("headscope traps ü 中 " + std::to_string(processId()));
  pathsAreUtf8(folder / "paths");
  filesAreBytes(folder / "bytes");
  threadsEnd();
  memoryIsAligned();
  lostViewsAreZeros(folder);
  mappedFilesStay(folder);
  locksExclude(folder);
  failures += headscope::app::platformFailures(folder / "windows");
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  // The pool's threads are still there when the program ends.
  std::atomic<int> count = 0;
  forEach(1000, {}, [&](Index) { ++count; });
  expect(count == 1000, "every task ran");
  std::printf("%d failures\n", failures);
  return failures > 0 ? 1 : 0;
}
