#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "attention/formats/files/file_io.h"
#include "attention/models/checkpoint/checkpoint.h"

namespace headscope::attention {
namespace {

/// A memory range in which bus errors turn into zeros.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};  ///< end 0: free
  std::atomic<bool> lost{false};                 ///< part of it reads as zeros
};

// The handler serves the whole process and may only use plain memory, no locks.
std::array<GuardedRange, 1024> ranges;
struct sigaction previous;
std::once_flag installed;
std::mutex taking;

GuardedRange* rangeAt(std::uintptr_t address) {
  for (GuardedRange& range : ranges)
    if (range.begin.load() <= address && address < range.end.load()) return &range;
  return nullptr;
}

/// Maps zeros from the lost page to the end of the range: if one page is gone, so are those after it.
bool mapZeros(GuardedRange& range, std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = address / page * page, end = range.end.load();
  void* const zeros = ::mmap(reinterpret_cast<void*>(from), end - from, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) return false;
  range.lost = true;
  return true;
}

void onBusError(int signal, siginfo_t* info, void* context) {
  const int code = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  GuardedRange* const range = info->si_code > 0 ? rangeAt(address) : nullptr;  // else a process sent it
  const bool guarded = range && mapZeros(*range, address);
  errno = code;
  if (guarded) return;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  // No other handler: raise it again without one, to end the program as it would have ended.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous);
}

/// Guards the whole pages [begin, end) until endGuard(). Returns null if 1,024 ranges are guarded already.
GuardedRange* beginGuard(const void* begin, const void* end) {
  std::call_once(installed, install);
  const std::lock_guard lock(taking);
  for (GuardedRange& range : ranges) {
    if (range.end.load() != 0) continue;
    range.lost = false;
    range.begin = reinterpret_cast<std::uintptr_t>(begin);
    range.end = reinterpret_cast<std::uintptr_t>(end);
    return &range;
  }
  return nullptr;
}

void endGuard(GuardedRange* range) {
  const std::lock_guard lock(taking);
  range->end = 0;
}

}  // namespace

struct MappedFile::State {
  State(RegularFile opened, void* mapping, std::size_t length, GuardedRange* guard)
      : file(std::move(opened)), data(mapping), bytes(length), range(guard) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (range) endGuard(range);
    if (bytes > 0) ::munmap(data, bytes);
  }

  RegularFile file;
  void* data;
  std::size_t bytes;
  GuardedRange* range;  ///< null for an empty file
};

MappedFile::MappedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;
MappedFile::~MappedFile() = default;

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  const auto bytes = static_cast<std::size_t>(file->size());
  if (bytes == 0) return MappedFile(std::make_unique<State>(std::move(*file), nullptr, 0, nullptr));
  void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (data == MAP_FAILED) return fileError(path, "cannot be mapped: " + systemText(errno));
  GuardedRange* const range = beginGuard(data, static_cast<const std::uint8_t*>(data) + bytes);
  auto state = std::make_unique<State>(std::move(*file), data, bytes, range);
  if (!range) return fileError(path, "cannot be mapped: too many files of weights are open at once");
  return MappedFile(std::move(state));
}

const std::filesystem::path& MappedFile::path() const {
  return state_->file.path();
}

std::span<const std::uint8_t> MappedFile::bytes() const {
  return {static_cast<const std::uint8_t*>(state_->data), state_->bytes};
}

Status MappedFile::intact() const {
  if (const Status status = state_->file.unchanged(); !status) return status;
  if (state_->range && state_->range->lost.load())
    return fileError(path(), "could not be read to its end, expected it to stay as it was opened");
  return success();
}

}  // namespace headscope::attention
