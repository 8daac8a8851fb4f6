#pragma once

#include <cstdint>
#include <string_view>

namespace headscope::attention {

/// SplitMix64 (Steele, Lea & Flood 2014): small, fast, and the same on every machine, which
/// std::normal_distribution is not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// In [0, 1).
  double uniform();
  /// Standard normal, by Box and Muller.
  float gaussian();

 private:
  std::uint64_t state_;
  double spare_ = 0;
  bool hasSpare_ = false;
};

/// FNV-1a over the bytes, then mixed with `seed`: a stable number for a token's text.
std::uint64_t hashText(std::string_view text, std::uint64_t seed);

/// An independent stream for part `stream` of something seeded with `seed`.
std::uint64_t mixSeed(std::uint64_t seed, std::uint64_t stream);

}  // namespace headscope::attention
