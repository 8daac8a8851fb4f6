#pragma once

#include "tests/attention/models/plain/plain_model.h"

namespace headscope::attention::test {

/// A model that reads pictures, by its paper's equations in double precision.
struct PlainVision {
  std::string name, config, processor;  ///< the test's name; config.json; preprocessor_config.json
  Index rows, cols;                     ///< patches of a picture of 30 × 20 pixels
  Index before;                         ///< tokens before the patches
  /// Runs the model on the processor's colours, [height, width] of red, green and blue.
  std::function<PlainOutcome(MadeUpTensors&, const std::vector<Wide>& colours)> run;
};
std::vector<PlainVision> plainVisionModels();

/// A ViT of two layers on pictures of 8 × 8 pixels and its processor, for tests that need any. With
/// `classes`, it has a classifier of "class a", "class b", …
PlainVision smallVit(Index classes = 0);

}  // namespace headscope::attention::test
