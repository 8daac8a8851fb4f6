#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>

#include "attention/models/model.h"
#include "attention/models/vision/image_processor.h"

namespace headscope::attention {

/// A model applied to one picture. Its tokens have the ids 0, 1, …: first those before the patches (class
/// token first), then the patches, row by row from the top.
struct VisionModel {
  std::shared_ptr<const Model> model;
  RgbImage seen;             ///< resized and cropped, including edges that fill no patch
  Index rows = 0, cols = 0;  ///< of patches
  Index before = 0;          ///< tokens before the first patch: leading ones, then registers

  Index tokens() const { return before + rows * cols; }
  /// Returns each token's name: "[CLS]", "[DIST]", "[REG0]", or "r3 c5" for a patch, rows and columns from 0.
  std::vector<std::string> names() const;
};

/// Converts a picture to a model's tokens: patches by a matrix product (Dosovitskiy et al. 2021, eq. 1),
/// leading tokens, and positions, interpolated if the family does so. Returns an Error if the model reads no
/// pictures, the processor refuses the picture, or its size doesn't suit the positions.
Result<VisionModel> modelOnPicture(std::shared_ptr<const Model> model, const ImageProcessor& processor,
                                   const RgbImage& picture);

/// The same for a PNG or JPEG file; reads the processor from the model's folder.
Result<VisionModel> modelOnPictureFile(std::shared_ptr<const Model> model,
                                       const std::filesystem::path& picture,
                                       const std::stop_token& stop = {});

}  // namespace headscope::attention
