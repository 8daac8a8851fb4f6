#pragma once

#include <cstdint>
#include <string_view>

namespace headscope::attention {

/// SplitMix64 (Steele, Lea & Flood 2014): small, fast and, unlike std::normal_distribution, with the same
/// results on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Uniform in [0, 1).
  double uniform();
  /// Standard normal, by the Box-Muller method.
  float gaussian();

 private:
  std::uint64_t state_;
  double spare_ = 0;
  bool hasSpare_ = false;
};

/// Returns a stable hash of a token's text: FNV-1a over the bytes, mixed with `seed`.
std::uint64_t hashText(std::string_view text, std::uint64_t seed);

/// Returns the seed of an independent random stream, number `stream` of those derived from `seed`.
std::uint64_t mixSeed(std::uint64_t seed, std::uint64_t stream);

}  // namespace headscope::attention
