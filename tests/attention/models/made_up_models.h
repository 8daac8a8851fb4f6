#pragma once

#include "tests/attention/models/made_up_checkpoint.h"

namespace headscope::attention::test {

/// The config.json and the tensors of a small model.
struct MadeUpModel {
  std::string name, config;
  SafetensorsFile tensors;
};

/// A model of every architecture: decoders, encoders, encoder–decoders and models that read pictures.
const std::vector<MadeUpModel>& madeUpModels();

}  // namespace headscope::attention::test
