#include "attention/models/vision/picture_weights.h"

#include "attention/models/families.h"

namespace headscope::attention {

PictureWeights findPictureWeights(TensorFinder& finder, const ModelConfig& config, const TensorNames& names) {
  const PictureTokens& picture = *config.picture;
  const Index d = config.modelDim, grid = picture.grid();
  PictureWeights weights;
  weights.patches = finder.patches(std::string(names.patches), d, 3, picture.patch, picture.patchBias);
  for (Index i = 0; i < picture.leading; ++i) {
    const auto token = finder.table(std::string(names.leadingTokens[asSize(i)]), 1, d);
    weights.leading.push_back(token);
  }
  if (picture.registers > 0)
    weights.registers = finder.table(std::string(names.registerTokens), picture.registers, d);
  weights.positions = finder.table(std::string(names.picturePositions), picture.leading + grid * grid, d);
  return weights;
}

}  // namespace headscope::attention
