#include "attention/formats/mapped_file.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace headscope::attention {
namespace {

/// Where a thread that is copying goes on if a page of this mapping can't be read.
struct CopyGuard {
  sigjmp_buf resume;
  const std::uint8_t* begin;
  const std::uint8_t* end;
};

/// Volatile, because the handler of a signal reads it between any two instructions.
thread_local CopyGuard* volatile activeGuard = nullptr;
struct sigaction previousAction;

/// Does with a SIGBUS what would have been done without this file's handler.
void passOn(int signal, siginfo_t* info, void* context) {
  if (previousAction.sa_flags & SA_SIGINFO) return previousAction.sa_sigaction(signal, info, context);
  if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN)
    return previousAction.sa_handler(signal);
  // A signal that the system raised for a bad access can't be ignored: the access would only be repeated.
  if (previousAction.sa_handler == SIG_IGN && info->si_code <= 0) return;
  ::signal(SIGBUS, SIG_DFL);
  ::raise(SIGBUS);  // delivered as soon as the handler returns
}

void onBusError(int signal, siginfo_t* info, void* context) {
  CopyGuard* const guard = activeGuard;
  const auto* at = static_cast<const std::uint8_t*>(info->si_addr);
  // Positive codes alone come from the system and hold an address.
  if (guard && info->si_code > 0 && at >= guard->begin && at < guard->end) siglongjmp(guard->resume, 1);
  passOn(signal, info, context);
}

void installHandlerOnce() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &previousAction) == 0;
  }();
  static_cast<void>(installed);
}

/// Copies bytes of the mapping; false if one of its pages can't be read. Nothing here has a destructor,
/// because the jump out of the handler runs none.
bool guardedCopy(std::span<const std::uint8_t> mapping, std::uint64_t offset, std::uint8_t* to,
                 std::size_t count) {
  CopyGuard guard;
  guard.begin = mapping.data();
  guard.end = mapping.data() + mapping.size();
  if (sigsetjmp(guard.resume, 1) != 0) {
    activeGuard = nullptr;
    return false;
  }
  activeGuard = &guard;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to, mapping.data() + offset, count);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  activeGuard = nullptr;
  return true;
}

/// Takes copied pages off this program's account; the system still keeps them for the next read. Without
/// this, a walk through a file's heads would seem to hold the whole file.
void releasePages(const std::uint8_t* data, std::uint64_t offset, std::uint64_t count) {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page * page;
  // Advice alone: where it isn't taken, nothing but the account changes.
  ::madvise(const_cast<std::uint8_t*>(data) + begin, offset + count - begin, MADV_DONTNEED);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  auto file = openToRead(path);
  if (!file) return file.error();
  void* data = nullptr;
  if (file->size > 0) {
    data = ::mmap(nullptr, file->size, PROT_READ, MAP_SHARED, file->descriptor.get(), 0);
    if (data == MAP_FAILED) {
      const int code = errno;
      const auto size = "is " + std::to_string(file->size) + " bytes, ";
      return fileError(path, code == ENOMEM ? size + "more than there is address space for"
                                            : size + "which cannot be mapped: " + systemText(code));
    }
  }
  installHandlerOnce();
  return MappedFile(path, std::move(*file), static_cast<const std::uint8_t*>(data));
}

MappedFile::MappedFile(std::filesystem::path path, RegularFile file, const std::uint8_t* data)
    : path_(std::move(path)), descriptor_(std::move(file.descriptor)), data_(data), size_(file.size) {}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::move(other.descriptor_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Status MappedFile::copy(std::uint64_t offset, std::span<std::uint8_t> to) const {
  require(offset <= size_ && to.size() <= size_ - offset,
          "bytes [" + std::to_string(offset) + ", +" + std::to_string(to.size()) +
              "] don't lie within the file's " + std::to_string(size_));
  if (to.empty()) return success();
  if (auto status = checkSize(); !status) return status;
  const bool copied = guardedCopy({data_, size_}, offset, to.data(), to.size());
  releasePages(data_, offset, to.size());
  // A file cut within a page gives zeros instead of a signal, so its size is looked at once more.
  if (auto status = checkSize(); !status) return status;
  if (!copied) return fileError(path_, "cannot be read: " + systemText(EIO));
  return success();
}

Status MappedFile::checkSize() const {
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) return fileError(path_, "cannot be read: " + systemText(errno));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size >= size_) return success();
  return fileError(path_, "became shorter while it was read: found " + std::to_string(size) +
                              " bytes, expected " + std::to_string(size_));
}

}  // namespace headscope::attention
