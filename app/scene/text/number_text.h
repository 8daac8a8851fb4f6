#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::app {

// The same quantity is written the same way everywhere on screen.

/// "384 B", "2.3 KiB", "1 GiB" where it is just that.
std::string bytesText(double bytes);
/// A weight or probability: "0.819", and "0" or "1" only when exactly so.
std::string weightText(float value);
/// A score, product or other signed number: "5.590", "31.62", "2.4·10⁻⁶"; a true minus sign.
std::string numberText(double value, int significant = 4);
/// "12,288".
std::string countText(std::uint64_t value);
/// "1 token", "12,288 tokens".
std::string tokenCountText(std::int64_t count);
/// "1 kv head", "8 kv heads", "12,288 words".
std::string countedText(std::int64_t count, std::string_view one);
/// A share as "12.3 %", a small one as "0.12 %".
std::string percentText(double share);
/// "8.2 kFLOP", "1.3 GFLOP".
std::string flopsText(double flops);
/// "0.31 ms", "12 ms", "1.4 s".
std::string timeText(double seconds);

}  // namespace headscope::app
