#include "attention/models/checkpoint/file_view.h"

#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>

namespace headscope::attention {
namespace {

std::once_flag installed;
std::mutex replacing;

/// Takes the view's place in memory without a file. Its pages are then given when they are touched,
/// since zeros for all weights at once may be more than the memory there is. Call with `replacing` locked.
bool replaceView(GuardedRange& range) {
  void* const begin = reinterpret_cast<void*>(range.begin.load());
  if (!UnmapViewOfFile(begin)) return false;
  range.lost = true;
  return VirtualAlloc(begin, range.end - range.begin, MEM_RESERVE, PAGE_READONLY) == begin;
}

/// A drive or share was lost under a view, or a page in a view's place was touched for the first time.
LONG CALLBACK onFault(EXCEPTION_POINTERS* fault) {
  const EXCEPTION_RECORD& what = *fault->ExceptionRecord;
  const bool unread = what.ExceptionCode == EXCEPTION_IN_PAGE_ERROR;
  if ((!unread && what.ExceptionCode != EXCEPTION_ACCESS_VIOLATION) || what.NumberParameters < 2)
    return EXCEPTION_CONTINUE_SEARCH;
  const auto address = static_cast<std::uintptr_t>(what.ExceptionInformation[1]);
  GuardedRange* const range = GuardedRanges::at(address);
  if (!range || (!unread && !range->lost)) return EXCEPTION_CONTINUE_SEARCH;
  constexpr std::uintptr_t kPart = std::uintptr_t{1} << 20;
  const std::lock_guard lock(replacing);
  if (!range->lost && !replaceView(*range)) return EXCEPTION_CONTINUE_SEARCH;
  const std::uintptr_t from = std::max(address / kPart * kPart, range->begin.load());
  const bool given = VirtualAlloc(reinterpret_cast<void*>(from), std::min(kPart, range->end - from),
                                  MEM_COMMIT, PAGE_READONLY) != nullptr;
  return given ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

FileView::FileView(int descriptor, std::size_t size) : bytes(size) {
  std::call_once(installed, [] { AddVectoredExceptionHandler(1, onFault); });
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  void* const mapped = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes) : nullptr;
  errno = mapped ? 0 : GetLastError() == ERROR_NOT_ENOUGH_MEMORY ? ENOMEM : EIO;
  if (mapping) CloseHandle(mapping);
  data = static_cast<const std::uint8_t*>(mapped);
  if (data) range = GuardedRanges::guard(data, bytes);
}

FileView::~FileView() {
  if (!data) return;
  void* const begin = const_cast<std::uint8_t*>(data);
  if (range && range->lost)
    VirtualFree(begin, 0, MEM_RELEASE);
  else
    UnmapViewOfFile(begin);
  if (range) GuardedRanges::release(range);
}

}  // namespace headscope::attention
