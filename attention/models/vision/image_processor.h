#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/vision/resample.h"

namespace headscope::attention {

/// How a folder's preprocessor_config.json prepares pictures for the model: resizes them, crops the centre,
/// and turns colours c into (c · rescale − mean) / deviation.
struct ImageProcessor {
  struct Size {
    Index height = 0, width = 0;
    bool operator==(const Size&) const = default;
  };
  Size size = {};      ///< 0: `shortest` applies
  Index shortest = 0;  ///< of the shorter side, the other in proportion; 0: `size` applies. Both 0: unchanged
  ResampleFilter filter = ResampleFilter::bilinear;
  std::optional<Size> crop = {};
  double rescale = 1;
  std::array<double, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};
  std::vector<std::string> notes = {};  ///< about unknown fields of the file, one sentence each

  /// Reads a preprocessor_config.json; `name` is for messages. Missing fields take the defaults of the class
  /// it names or, if it names none, of the class `standard` ("ViT", "DeiT", "Bit", "CLIP"). Returns an Error,
  /// in one sentence, for text that isn't a JSON object, another class, or unsupported sizes and filters.
  static Result<ImageProcessor> read(std::string_view json, const std::string& name,
                                     std::string_view defaultValue);
  /// Reads a model folder's preprocessor_config.json, or the image_processor of its processor_config.json.
  /// Returns an Error if there is neither.
  static Result<ImageProcessor> open(const std::filesystem::path& folder, std::string_view defaultValue);

  /// Resizes and crops. Returns an Error if the picture is too small, or too long and narrow.
  Result<RgbImage> fit(const RgbImage& picture) const;
  /// Returns the colours as the model's input, [3, height · width].
  Matrix colours(const RgbImage& fitted) const;
};

}  // namespace headscope::attention
