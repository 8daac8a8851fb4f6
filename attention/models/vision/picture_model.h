#pragma once

#include <filesystem>
#include <memory>

#include "attention/models/model.h"
#include "attention/models/vision/picture_processor.h"

namespace headscope::attention {

/// A model on one picture: its tokens are ids 0, 1, …: those before the patches (the class token first), then
/// the patches, row by row from the top.
struct PictureModel {
  std::shared_ptr<const Model> model;
  RgbPicture seen;              ///< as it was resized and cut, patches' edges included
  Index rows = 0, cols = 0;  ///< of patches
  Index before = 0;          ///< tokens before the first patch: leading ones, then registers

  Index tokens() const { return before + rows * cols; }
  /// What each token is called: "[CLS]", "[DIST]", "[REG0]", or "r3 c5" of a patch, rows and columns from 0.
  std::vector<std::string> names() const;
};

/// Makes a picture a model's tokens: patches as a product (Dosovitskiy et al. 2021, eq. 1), leading tokens,
/// positions, interpolated where the family does that. Errors: a model that reads no pictures, what the
/// processor refuses, a picture of another size than the positions are for.
Result<PictureModel> modelOnPicture(std::shared_ptr<const Model> model, const PictureProcessor& processor,
                                    const RgbPicture& picture);

/// The same of an opened folder and a PNG or JPEG file.
Result<PictureModel> modelOnPictureFile(std::shared_ptr<const Model> model,
                                        const std::filesystem::path& picture);

}  // namespace headscope::attention
