#pragma once

#include "tests/attention/models/plain/plain_model.h"

namespace headscope::attention::test {

/// A model that reads pictures, by its paper's equations in double precision.
struct PlainVision {
  std::string name, config, processor;  ///< of the test; config.json; preprocessor_config.json
  Index rows, cols;                     ///< patches that a picture of 30 × 20 pixels has
  Index before;                         ///< tokens before these
  /// On colours as the processor makes them, [height, width] of red, green and blue.
  std::function<PlainOutcome(MadeUpTensors&, const std::vector<Wide>& colours)> run;
};
std::vector<PlainVision> plainVisionModels();

/// ViT of two layers on pictures of 8 × 8 pixels and its processor, for tests that need any; with a
/// classifier of "class a", "class b", … where there are classes.
PlainVision smallVit(Index classes = 0);

}  // namespace headscope::attention::test
