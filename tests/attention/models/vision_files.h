#pragma once

#include "attention/formats/pictures/picture.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/attention/models/plain/plain_vision.h"

namespace headscope::attention::test {

/// A picture whose colours differ everywhere.
RgbImage patternedPicture(Index width, Index height);

/// The picture as the bytes of a file.
std::vector<std::uint8_t> pngBytes(const RgbImage& picture);
std::vector<std::uint8_t> jpegBytes(const RgbImage& picture);

/// The folder of a small ViT of 2 × 2 patches, with its preprocessor_config.json and a picture of 30 × 20
/// pixels.
class VitFolder {
 public:
  explicit VitFolder(Index classes = 0);
  std::filesystem::path path() const { return folder_.path(); }
  std::filesystem::path picture() const { return folder_ / "fox.png"; }

 private:
  MadeUpTensors tensors_;
  PlainVision plain_;
  PlainOutcome outcome_;
  MadeUpCheckpoint folder_;
};

}  // namespace headscope::attention::test
