#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/formats/pictures/picture.h"
#include "attention/models/model.h"

namespace headscope::attention {

/// Pillow's filters, by its numbers, and the half-width of their support: the nearest pixel; sinc windowed by
/// a sinc, 3 (Lanczos); triangle, 1; Keys' cubic with a = −1/2, 2 (Keys 1981); box, 1/2; sinc times Hamming's
/// window, 1.
enum class ResampleFilter { nearest, lanczos, bilinear, bicubic, box, hamming };

/// One resampled value: Σ shares[i] · old[first + i], with shares that sum to 1.
struct ResampleSum {
  Index first = 0;
  std::vector<double> shares;
};

/// Returns the sums that resample a row of `from` values to `to`. If `to` is smaller, the filter is widened
/// by from / to to cover all of them (antialiasing), as in Pillow's resize() and torch's
/// interpolate(antialias=True).
std::vector<ResampleSum> resampleSums(Index from, Index to, ResampleFilter filter);
/// Returns sums of four values each, by the cubic with a = −3/4, which isn't widened; the end values are
/// repeated. Equals torch's interpolate(mode="bicubic", align_corners=False).
std::vector<ResampleSum> cubicSums(Index from, Index to);

/// Resizes a picture bit for bit like Pillow 13: along rows, then along columns, or the other way round if
/// that is faster, with shares rounded to 22 fractional bits and 8 bits per colour in between.
RgbImage resized(const RgbImage& picture, Index width, Index height, ResampleFilter filter);

/// Resamples the rows of a table, which form a grid [rows · cols, d], to a grid of another size.
Matrix resampledGrid(const Matrix& table, Index rows, Index cols, const std::vector<ResampleSum>& toRows,
                     const std::vector<ResampleSum>& toCols);

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
  /// it names or, if it names none, of the class `defaultValue` ("ViT", "DeiT", "Bit", "CLIP"). Returns an
  /// Error, in one sentence, for text that isn't a JSON object, another class, or unsupported sizes and
  /// filters.
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
