#pragma once

#include <string>
#include <string_view>

namespace headscope::attention::kernels {

/// The instruction set the kernels use, by Highway's name: "AVX2", "AVX3_ZEN4", "SSE4".
const char* targetName();

/// Restricts the kernels to the named instruction set and older ones. Call before computing anything. Returns
/// false and changes nothing if the processor doesn't have it.
bool restrictTarget(std::string_view name);
/// The names of the processor's instruction sets, newest first, separated by commas.
std::string targetNames();

}  // namespace headscope::attention::kernels
