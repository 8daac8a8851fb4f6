#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/vision/vision_model.h"

namespace headscope::attention {
namespace {

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

/// Keys' cubic convolution kernel at distance x.
double keys(double x, double a) {
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double filterAt(ResampleFilter filter, double at) {
  const double x = std::abs(at);
  switch (filter) {
    case ResampleFilter::nearest:
      return 1;
    case ResampleFilter::lanczos:
      return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case ResampleFilter::bilinear:
      return std::max(0.0, 1 - x);
    case ResampleFilter::bicubic:
      return keys(x, -0.5);
    case ResampleFilter::box:
      return at > -0.5 && at <= 0.5 ? 1 : 0;
    case ResampleFilter::hamming:
      return x < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x)) : 0;
  }
  return 0;
}

double supportOf(ResampleFilter filter) {
  constexpr double kSupports[] = {0.5, 3, 1, 2, 0.5, 1};
  return kSupports[static_cast<std::size_t>(filter)];
}

/// A ResampleSum in fixed point, with 22 fractional bits.
struct WholeSum {
  Index first;
  std::vector<std::int32_t> shares;
};
constexpr int kShareBits = 22;

std::vector<WholeSum> wholeSums(Index from, Index to, ResampleFilter filter) {
  std::vector<WholeSum> sums;
  for (const ResampleSum& sum : resampleSums(from, to, filter)) {
    WholeSum& whole = sums.emplace_back(WholeSum{sum.first, {}});
    for (const double share : sum.shares)
      whole.shares.push_back(static_cast<std::int32_t>(std::lround(share * (1 << kShareBits))));
  }
  return sums;
}

/// One colour value computed from those at `from`, `step` bytes apart.
std::uint8_t summed(const WholeSum& sum, const std::uint8_t* from, Index step) {
  std::int64_t value = std::int64_t{1} << (kShareBits - 1);
  for (const std::int32_t share : sum.shares) {
    value += std::int64_t{share} * *from;
    from += step;
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value >> kShareBits, 0, 255));
}

/// Resizes the rows to `size` pixels or, if `columns`, the columns.
RgbImage resizedAlong(const RgbImage& picture, bool columns, Index size, ResampleFilter filter) {
  const Index old = columns ? picture.height : picture.width, row = 3 * picture.width;
  if (size == old) return picture;
  const std::vector<WholeSum> sums = wholeSums(old, size, filter);
  RgbImage to{columns ? picture.width : size, columns ? size : picture.height, {}};
  to.rgb.reserve(asSize(3 * to.width * to.height));
  for (Index y = 0; y < to.height; ++y)
    for (Index x = 0; x < to.width; ++x) {
      const WholeSum& sum = sums[asSize(columns ? y : x)];
      const Index from = columns ? sum.first * row + 3 * x : y * row + 3 * sum.first;
      for (Index c = 0; c < 3; ++c)
        to.rgb.push_back(summed(sum, picture.rgb.data() + from + c, columns ? row : 3));
    }
  return to;
}

}  // namespace

std::vector<ResampleSum> resampleSums(Index from, Index to, ResampleFilter filter) {
  require(from > 0 && to > 0, "an empty row can't be resampled");
  const double scale = static_cast<double>(from) / static_cast<double>(to), wide = std::max(scale, 1.0);
  const double support = supportOf(filter) * wide;
  std::vector<ResampleSum> sums;
  for (Index i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    if (filter == ResampleFilter::nearest) {
      sums.push_back({std::min(static_cast<Index>(center), from - 1), {1}});
      continue;
    }
    const auto first = std::max<Index>(static_cast<Index>(center - support + 0.5), 0);
    const auto end = std::min<Index>(static_cast<Index>(center + support + 0.5), from);
    ResampleSum& sum = sums.emplace_back(ResampleSum{first, {}});
    double whole = 0;
    for (Index at = first; at < end; ++at) {
      sum.shares.push_back(filterAt(filter, (static_cast<double>(at) - center + 0.5) / wide));
      whole += sum.shares.back();
    }
    for (double& share : sum.shares) share /= whole;
  }
  return sums;
}

std::vector<ResampleSum> cubicSums(Index from, Index to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<ResampleSum> sums;
  for (Index i = 0; i < to; ++i) {
    const double at = (static_cast<double>(i) + 0.5) * scale - 0.5, floor = std::floor(at);
    const auto low = static_cast<Index>(floor) - 1;
    const auto inside = [&](Index place) { return std::clamp<Index>(place, 0, from - 1); };
    ResampleSum& sum = sums.emplace_back(ResampleSum{inside(low), {}});
    sum.shares.resize(static_cast<std::size_t>(inside(low + 3) - sum.first) + 1);
    for (Index tap = 0; tap < 4; ++tap)
      sum.shares[static_cast<std::size_t>(inside(low + tap) - sum.first)] +=
          keys(std::abs(at - floor + 1 - static_cast<double>(tap)), -0.75);
  }
  return sums;
}

RgbImage resized(const RgbImage& picture, Index width, Index height, ResampleFilter filter) {
  // Pillow 13's order; earlier versions always begin with the rows.
  const bool columnsFirst = height < picture.height && picture.height - height > 2 * (picture.width - width);
  const auto pass = [&](const RgbImage& from, bool columns) {
    return resizedAlong(from, columns, columns ? height : width, filter);
  };
  return pass(pass(picture, columnsFirst), !columnsFirst);
}

Matrix resampledGrid(const Matrix& table, Index rows, Index cols, const std::vector<ResampleSum>& toRows,
                     const std::vector<ResampleSum>& toCols) {
  require(table.rows() == rows * cols, "the table's rows don't fit its grid");
  Matrix to = Matrix::Zero(std::ssize(toRows) * std::ssize(toCols), table.cols());
  Index at = 0;
  for (const ResampleSum& row : toRows)
    for (const ResampleSum& col : toCols) {
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(table.cols());
      for (std::size_t r = 0; r < row.shares.size(); ++r)
        for (std::size_t c = 0; c < col.shares.size(); ++c)
          sum += row.shares[r] * col.shares[c] *
                 table.row((row.first + static_cast<Index>(r)) * cols + col.first + static_cast<Index>(c))
                     .cast<double>();
      to.row(at++) = sum.cast<float>();
    }
  return to;
}

namespace {

constexpr std::uint64_t kMaxProcessorBytes = std::uint64_t{1} << 20;
/// Largest side of a resized or cropped picture.
constexpr Index kMaxSide = 4096;

constexpr std::array<double, 3> kHalf{0.5, 0.5, 0.5}, kImageNetMean{0.485, 0.456, 0.406},
    kImageNetDeviation{0.229, 0.224, 0.225}, kClipMean{0.48145466, 0.4578275, 0.40821073},
    kClipDeviation{0.26862954, 0.26130258, 0.27577711};

/// The defaults of an image processor class in transformers.
struct ProcessorClass {
  std::string_view name;  ///< prefix of image_processor_type
  bool square;            ///< a size of one number means both sides, not the shorter one
  Index size;
  Index crop;  ///< 0: none
  ResampleFilter filter;
  std::array<double, 3> mean, deviation;
};

constexpr ProcessorClass kClasses[] = {
    {"ViT", true, 224, 0, ResampleFilter::bilinear, kHalf, kHalf},
    {"DeiT", true, 256, 224, ResampleFilter::bicubic, kImageNetMean, kImageNetDeviation},
    {"Bit", false, 224, 224, ResampleFilter::bicubic, kClipMean, kClipDeviation},
    {"CLIP", false, 224, 224, ResampleFilter::bicubic, kClipMean, kClipDeviation},
    {"Siglip", true, 224, 0, ResampleFilter::bicubic, kHalf, kHalf},
};

constexpr ConfigFields kProcessorFields{
    .ignored =
        // Read unless others switch them off.
    "image_processor_type feature_extractor_type do_resize size resample do_center_crop crop_size "
    "do_rescale rescale_factor do_normalize image_mean image_std default_to_square "
    // Without effect.
    "do_convert_rgb processor_class data_format input_data_format device return_tensors "
    "disable_grouping _valid_processor_keys",
    .fixed = "do_pad=false do_flip_channel_order=false do_reduce_labels=false",
};

const ProcessorClass* classOf(const ConfigReader& json, std::string_view defaultValue) {
  const std::string_view key =
      json.has("image_processor_type") ? "image_processor_type" : "feature_extractor_type";
  const std::string type = json.text(key, defaultValue);
  for (const ProcessorClass& each : kClasses) {
    if (!std::string_view(type).starts_with(each.name)) continue;
    const std::string_view rest = std::string_view(type).substr(each.name.size());
    for (const std::string_view end :
         {"", "ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor"})
      if (rest == end) return &each;
  }
  json.refuse(key, quotedText(type),
              "ViTImageProcessor, DeiTImageProcessor, BitImageProcessor, "
              "CLIPImageProcessor or SiglipImageProcessor");
  return nullptr;
}

/// Reads an object's height and width.
ImageProcessor::Size bothSides(const ConfigReader& size) {
  return {size.size("height", {}, 1, kMaxSide), size.size("width", {}, 1, kMaxSide)};
}

void readSize(const ConfigReader& json, const ProcessorClass& known, ImageProcessor& processor) {
  const bool square = json.flag("default_to_square", known.square);
  if (json.isObject("size")) {
    const ConfigReader size = json.object("size");
    for (const std::string& name : size.names())
      if (name != "height" && name != "width" && name != "shortest_edge")
        json.refuse("size", "an object with " + quotedText(name), "height and width, or shortest_edge");
    if (size.has("shortest_edge"))
      processor.shortest = size.size("shortest_edge", {}, 1, kMaxSide);
    else
      processor.size = bothSides(size);
    return;
  }
  const Index size = json.size("size", known.size, 1, kMaxSide);
  if (json.has("size") ? square : known.square)
    processor.size = {size, size};
  else
    processor.shortest = size;
}

void readCrop(const ConfigReader& json, const ProcessorClass& known, ImageProcessor& processor) {
  if (!json.flag("do_center_crop", known.crop > 0)) return;
  if (json.isObject("crop_size")) {
    processor.crop = bothSides(json.object("crop_size"));
    return;
  }
  const Index size =
      json.size("crop_size", known.crop > 0 ? std::optional(known.crop) : std::nullopt, 1, kMaxSide);
  processor.crop = ImageProcessor::Size{size, size};
}

ResampleFilter readFilter(const ConfigReader& json, ResampleFilter defaultValue) {
  const Index most = static_cast<Index>(ResampleFilter::hamming);
  return json.has("resample") ? static_cast<ResampleFilter>(json.size("resample", {}, 0, most))
                              : defaultValue;
}

std::array<double, 3> readColours(const ConfigReader& json, std::string_view key,
                                  const std::array<double, 3>& defaultValue) {
  if (!json.has(key)) return defaultValue;
  const std::vector<double> numbers = json.numbers(key, 3);
  return {numbers[0], numbers[1], numbers[2]};
}

ImageProcessor readProcessor(const ConfigReader& json, const ProcessorClass& known) {
  ImageProcessor processor;
  if (json.flag("do_resize", true)) {
    readSize(json, known, processor);
    processor.filter = readFilter(json, known.filter);
  }
  readCrop(json, known, processor);
  if (json.flag("do_rescale", true)) processor.rescale = json.positive("rescale_factor", 1.0 / 255);
  if (json.flag("do_normalize", true)) {
    processor.mean = readColours(json, "image_mean", known.mean);
    processor.deviation = readColours(json, "image_std", known.deviation);
    if (std::ranges::find(processor.deviation, 0) != processor.deviation.end())
      json.refuse("image_std", "a list with a 0", "nonzero numbers");
  }
  return processor;
}

Result<ImageProcessor> processorOf(const ConfigReader& json, std::string_view defaultValue) {
  const ProcessorClass* const known = classOf(json, defaultValue);
  if (!known) return json.status().error();
  ImageProcessor processor = readProcessor(json, *known);
  const std::vector<std::string> unknown = checkFields(json, kProcessorFields, {});
  if (const Status status = json.status(); !status) return status.error();
  for (const std::string& field : unknown)
    processor.notes.push_back(
        fmt::format("preprocessor_config.json has a field Headscope doesn't know: {}.", quotedText(field)));
  return processor;
}

Result<ConfigReader> parsed(const std::filesystem::path& file) {
  const auto text = readFile(file, kMaxProcessorBytes);
  if (!text) return text.error();
  return ConfigReader::parse({reinterpret_cast<const char*>(text->data()), text->size()}, shownPath(file));
}

}  // namespace

Result<ImageProcessor> ImageProcessor::read(std::string_view text, const std::string& name,
                                            std::string_view defaultValue) {
  const auto json = ConfigReader::parse(text, name);
  if (!json) return json.error();
  return processorOf(*json, defaultValue);
}

Result<ImageProcessor> ImageProcessor::open(const std::filesystem::path& folder,
                                            std::string_view defaultValue) {
  const auto file = folder / "preprocessor_config.json", newer = folder / "processor_config.json";
  if (!fileExists(file) && !fileExists(newer))
    return fileError(folder, "has no preprocessor_config.json, which says how to preprocess pictures");
  const auto json = parsed(fileExists(file) ? file : newer);
  if (!json) return json.error();
  if (fileExists(file)) return processorOf(*json, defaultValue);
  if (!json->isObject("image_processor"))
    return fileError(newer, "has no image_processor, which says how to preprocess pictures");
  return processorOf(json->object("image_processor"), defaultValue);
}

Result<RgbImage> ImageProcessor::fit(const RgbImage& picture) const {
  Index width = picture.width, height = picture.height;
  if (size.height > 0) {
    width = size.width;
    height = size.height;
  } else if (shortest > 0) {
    const auto longer = [&](Index one, Index other) {
      return static_cast<Index>(static_cast<double>(shortest) * static_cast<double>(one) /
                                static_cast<double>(other));
    };
    (width < height ? height : width) = width < height ? longer(height, width) : longer(width, height);
    (picture.width < picture.height ? width : height) = shortest;
  }
  if (width * height > kMaxImagePixels)
    return Error{
        fmt::format("a picture of {} × {} pixels is too long and narrow: it would be resized to "
                    "{} × {}",
                    picture.width, picture.height, width, height)};
  RgbImage fitted = resized(picture, width, height, filter);
  if (!crop) return fitted;
  // A smaller picture gets black edges (center_crop of transformers).
  RgbImage middle{crop->width, crop->height,
                  std::vector<std::uint8_t>(asSize(3 * crop->width * crop->height))};
  const auto offset = [](Index have, Index want) { return (have - want - (have < want ? 1 : 0)) / 2; };
  const Index top = offset(height, crop->height), left = offset(width, crop->width);
  const Index first = std::max<Index>(left, 0), count = std::min(width, crop->width);
  for (Index y = std::max<Index>(top, 0); y < std::min(height, top + crop->height); ++y)
    std::copy_n(fitted.rgb.begin() + 3 * (y * width + first), 3 * count,
                middle.rgb.begin() + 3 * ((y - top) * crop->width + first - left));
  return middle;
}

Matrix ImageProcessor::colours(const RgbImage& fitted) const {
  const Index pixels = fitted.width * fitted.height;
  Matrix values(3, pixels);
  for (Index c = 0; c < 3; ++c) {
    const auto i = static_cast<std::size_t>(c);
    for (Index at = 0; at < pixels; ++at)
      values(c, at) = static_cast<float>(
          (rescale * fitted.rgb[static_cast<std::size_t>(3 * at + c)] - mean[i]) / deviation[i]);
  }
  return values;
}

}  // namespace headscope::attention
