#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>

#include "app/scene/scene.h"

namespace headscope::test {

/// Random choices, the same for the same seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  attention::Index between(attention::Index low, attention::Index high) {
    return low + static_cast<attention::Index>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }
  bool coin() { return bits() % 2 == 0; }
  bool oneIn(std::uint64_t n) { return bits() % n == 0; }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) / static_cast<double>(1ULL << 53);
  }
  /// A random value of an enum whose last value is `last`.
  template <typename Enum>
  Enum any(Enum last) {
    return static_cast<Enum>(below(static_cast<std::size_t>(last) + 1));
  }
  template <typename List>
  const auto& pick(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }

 private:
  std::mt19937_64 engine_;
};

/// The upper limits of a random scene's sizes.
struct SceneSizes {
  attention::Index heads = 8, headDim = 8, modelDim = 48, words = 12, lines = 4, planted = 12,
                   mapTokens = 2048;
};
/// The document's own limits, but with a short text.
inline constexpr SceneSizes kAnyScene{app::kMaxHeads, app::kMaxHeadDim,  app::kMaxModelDim, 12, 4,
                                      app::kMaxHeads, app::kMaxMapTokens};

/// Words of letters, numbers, punctuation, symbols of many scripts and emoji, quotes and control characters,
/// in well-formed UTF-8.
std::string randomLine(Dice& dice, attention::Index words);

/// Layers with any patterns that expressions can name, with paintings, marks and a second mask. Most fit a
/// short text; some name things that don't exist.
app::MaskSetup randomMask(Dice& dice, const SceneSizes& sizes);

/// A scene that a user could have made, generated from the document's table of fields. Passes validate().
app::Scene randomScene(Dice& dice, const SceneSizes& sizes);

}  // namespace headscope::test
