#pragma once

#include "attention/formats/pictures/picture.h"
#include "attention/models/vision/vision_model.h"
#include "tests/fuzz/targets.h"

/// The fuzz targets for pictures and their preprocessing.
namespace headscope::fuzz {

inline void fuzzPicture(Bytes bytes) {
  using namespace attention;
  const int turned = exifOrientation(bytes);
  hold(turned >= 1 && turned <= 8);
  const auto picture = decodeImage(bytes, "fuzz");
  if (!picture) return hold(picture.error().message.starts_with("fuzz: "));
  hold(picture->width > 0 && picture->height > 0 && picture->width * picture->height <= kMaxImagePixels);
  hold(std::ssize(picture->rgb) == 3 * picture->width * picture->height);
}

/// An accepted processor prepares a picture, or says why it can't.
inline void fuzzPictureProcessor(Bytes bytes) {
  using namespace attention;
  const auto processor =
      ImageProcessor::read({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz", "ViT");
  if (!processor) return hold(processor.error().message.starts_with("fuzz"));
  // Sides of thousands of pixels are valid, but take long.
  const auto small = [](Index side) { return side <= 64; };
  if (!small(processor->size.width) || !small(processor->size.height) || !small(processor->shortest)) return;
  const auto fitted = processor->fit({5, 3, std::vector<std::uint8_t>(45, 200)});
  if (!fitted) return hold(!fitted.error().message.empty());
  hold(std::ssize(fitted->rgb) == 3 * fitted->width * fitted->height);
  if (processor->crop)
    hold(fitted->width == processor->crop->width && fitted->height == processor->crop->height);
  hold(processor->colours(*fitted).cols() == fitted->width * fitted->height);
}

}  // namespace headscope::fuzz
