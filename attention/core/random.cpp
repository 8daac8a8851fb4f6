#include "attention/core/random.h"

#include <cmath>
#include <numbers>

namespace headscope::attention {
namespace {

/// SplitMix64's increment: 2⁶⁴ divided by the golden ratio, made odd.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

/// SplitMix64's output function.
std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t Random::next() {
  state_ += kGolden;
  return scramble(state_);
}

double Random::uniform() {
  // The upper 53 bits fill a double's significand exactly.
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

float Random::gaussian() {
  if (hasSpare_) {
    hasSpare_ = false;
    return static_cast<float>(spare_);
  }
  // 1 − u lies in (0, 1], where the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  hasSpare_ = true;
  return static_cast<float>(radius * std::cos(angle));
}

std::uint64_t hashText(std::string_view text, std::uint64_t seed) {
  // FNV-1a, 64 bits: offset basis and prime from the FNV reference (Fowler, Noll & Vo).
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return mixSeed(seed, hash);
}

std::uint64_t mixSeed(std::uint64_t seed, std::uint64_t stream) {
  // Scrambled twice, so that neighbouring seeds and streams don't share parts of their sequences.
  return scramble(scramble(seed + kGolden) + kGolden * (stream + 1));
}

}  // namespace headscope::attention
