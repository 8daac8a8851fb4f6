#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/vision/resample.h"

namespace headscope::attention {

/// How a picture is made ready for a model, as its folder's preprocessor_config.json says: resized, its
/// middle cut out, colours c made (c · rescale − mean) / deviation.
struct PictureProcessor {
  struct Size {
    Index height = 0, width = 0;
    bool operator==(const Size&) const = default;
  };
  Size size = {};      ///< 0: `shortest` says it
  Index shortest = 0;  ///< of the shorter side, the other in proportion; 0: `size` says it. Both 0: as it is
  ResampleFilter filter = ResampleFilter::bilinear;
  std::optional<Size> crop = {};
  double rescale = 1;
  std::array<double, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};
  std::vector<std::string> notes = {};  ///< what isn't known of the file, in a sentence each

  /// Reads a preprocessor_config.json, `name` for messages; what it doesn't say is as the class it names has
  /// it, or, where it names none, the class `standard` ("ViT", "DeiT", "Bit", "CLIP"). Errors, each in one
  /// sentence: no JSON object, another class, sizes and filters that aren't understood.
  static Result<PictureProcessor> read(std::string_view json, const std::string& name,
                                       std::string_view standard);
  /// Of a model's folder: of preprocessor_config.json, or the image_processor of processor_config.json. An
  /// error where there is neither.
  static Result<PictureProcessor> open(const std::filesystem::path& folder, std::string_view standard);

  /// Resized and cut. Errors: a picture too small or too long and narrow for it.
  Result<RgbPicture> fit(const RgbPicture& picture) const;
  /// Colours as a model takes them, [3, height · width].
  Matrix colours(const RgbPicture& fitted) const;
};

}  // namespace headscope::attention
