#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace headscope::test {

/// A line of /proc/self/status given in kB, as bytes: "VmRSS", "VmHWM".
inline std::uint64_t statusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kilobytes = 0; word == name + ":" && status >> kilobytes) return kilobytes << 10;
  return 0;
}

/// The peak growth of this process in bytes while `work` runs. Nullopt if the system doesn't tell, or under a
/// sanitizer, whose own memory would count.
template <typename Work>
std::optional<std::uint64_t> peakMemoryOf(Work work) {
#ifdef HEADSCOPE_SANITIZE_BUILD
  work();
  return std::nullopt;
#else
  // Writing 5 resets the peak to the current use.
  const bool reset = static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush);
  const std::uint64_t before = statusBytes("VmRSS");
  work();
  const std::uint64_t peak = statusBytes("VmHWM");
  if (!reset || before == 0) return std::nullopt;
  return peak > before ? peak - before : 0;
#endif
}

}  // namespace headscope::test
