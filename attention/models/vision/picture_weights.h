#pragma once

#include "attention/models/tensor_finder.h"

namespace headscope::attention {

struct TensorNames;  // families.h

/// What a model that reads pictures makes its tokens of, found as `names` call it. Errors are the finder's.
PictureWeights findPictureWeights(TensorFinder& finder, const ModelConfig& config, const TensorNames& names);

}  // namespace headscope::attention
