#include "attention/models/checkpoint/file_view.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace headscope::attention {
namespace {

struct sigaction previous;
std::once_flag installed;

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
  GuardedRange* const range =
      info->si_code > 0 ? GuardedRanges::at(address) : nullptr;  // else a process sent it
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

}  // namespace

FileView::FileView(int descriptor, std::size_t size) : bytes(size) {
  std::call_once(installed, install);
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED) return;
  data = static_cast<const std::uint8_t*>(mapped);
  range = GuardedRanges::guard(data, bytes);
}

FileView::~FileView() {
  if (range) GuardedRanges::release(range);
  if (data) ::munmap(const_cast<std::uint8_t*>(data), bytes);
}

}  // namespace headscope::attention
