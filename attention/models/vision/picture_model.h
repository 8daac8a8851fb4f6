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
  Picture seen;              ///< as it was resized and cut, patches' edges included
  Index rows = 0, cols = 0;  ///< of patches
  Index before = 0;          ///< tokens before the first patch: leading ones, then registers

  Index tokens() const { return before + rows * cols; }
  /// What each token is called: "CLS", "DIST", "REG 0", or "3,5" of the patch in row 3 and column 5, from 0.
  std::vector<std::string> names() const;
};

/// Makes a picture a model's tokens: patches as a product (Dosovitskiy et al. 2021, eq. 1), leading tokens,
/// positions, interpolated where the family does that. Errors: a model that reads no pictures, what the
/// processor refuses, a picture of another size than the positions are for.
Result<PictureModel> modelOnPicture(std::shared_ptr<const Model> model, const PictureProcessor& processor,
                                    const Picture& picture);

/// The same of an opened folder and a PNG or JPEG file.
Result<PictureModel> modelOnPictureFile(std::shared_ptr<const Model> model,
                                        const std::filesystem::path& picture);

}  // namespace headscope::attention
