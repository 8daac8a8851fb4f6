#pragma once

#include <cstdint>

namespace headscope::test {

/// Bytes that this program has requested from operator new so far, on all threads. Always 0 under a
/// sanitizer, which replaces operator new itself.
std::uint64_t allocatedBytes();

}  // namespace headscope::test
