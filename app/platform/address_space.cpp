#include "app/platform/address_space.h"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <stdexcept>

namespace headscope::app {

void requireAddressSpace(double pictureBytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  // Otherwise each thread reserves an arena as large as it can get, and the total need becomes unpredictable.
  mallopt(M_ARENA_MAX, 1);
  constexpr double kMebibyte = 1 << 20;
  // For OpenGL's compiler and textures, and the stacks of its threads and ours.
  const double threads = 3 * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double needed = (608 + 8 * threads) * kMebibyte + pictureBytes;
  const auto size = static_cast<std::size_t>(needed);
  void* const room = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw std::runtime_error(
        fmt::format("drawing needs about {:.0f} MB of address space, more than its limit (ulimit -v) leaves",
                    needed / kMebibyte + 110));
  munmap(room, size);
}

}  // namespace headscope::app
