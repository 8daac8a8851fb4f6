#pragma once

#include <cstdint>

namespace headscope::test {

/// Bytes that this program has asked operator new for so far, on all threads; always 0 under a sanitizer,
/// which has an operator of its own.
std::uint64_t allocatedBytes();

}  // namespace headscope::test
