#pragma once

#include "attention/core/random.h"
#include "attention/masks/expression.h"

namespace headscope::attention::test {

/// Lists of layers as a user could have made them, with any patterns, arguments, names, heads and groups. The
/// first layer of a list is never a bare group, and no group holds a single bare layer, so that the text form
/// is parsed back to the same list.
class RandomLayers {
 public:
  explicit RandomLayers(std::uint64_t seed) : random_(seed) {}
  MaskLayers list(int depth);
  /// The pattern with random arguments; those that the text can provide are sometimes omitted.
  PatternUse use(const PatternInfo& info, int depth);

 private:
  Index below(Index limit) { return static_cast<Index>(random_.next() % static_cast<std::uint64_t>(limit)); }
  bool chance(Index of) { return below(of) == 0; }
  Layer layer(int depth);
  PatternUse pattern(int depth);
  Argument argument(const ParameterInfo& parameter);
  HeadSet headSet(bool ofHeads);
  std::string name();

  Random random_;
};

}  // namespace headscope::attention::test
