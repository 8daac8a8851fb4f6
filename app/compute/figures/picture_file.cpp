#include "app/compute/figures/picture_file.h"

#include <fmt/core.h>

#include <charconv>
#include <iterator>

#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "attention/text/ascii.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

constexpr double kMillimetresPerInch = 25.4;

double pixelsOf(const Length& length, double dpi) {
  return length.millimetres ? length.value / kMillimetresPerInch * dpi : length.value;
}

/// A size in pixels, not rounded.
struct Extent {
  double width = 0, height = 0;
};
Extent extentOf(const Drawing& drawing, const PictureSize& size) {
  const double aspect = drawing.width / drawing.height;
  if (size.width && size.height) return {pixelsOf(*size.width, size.dpi), pixelsOf(*size.height, size.dpi)};
  if (size.width) return {pixelsOf(*size.width, size.dpi), pixelsOf(*size.width, size.dpi) / aspect};
  if (size.height) return {pixelsOf(*size.height, size.dpi) * aspect, pixelsOf(*size.height, size.dpi)};
  return {std::ceil(drawing.width) * size.scale, std::ceil(drawing.height) * size.scale};
}

/// CRC-32 at the end of PNG chunks (PNG specification, annex D).
std::uint32_t checksum(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xEDB88320u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

/// Inserts the pixels per metre (pHYs) after the header, so that the picture has its size on paper.
void addResolution(std::vector<std::uint8_t>& png, double dpi) {
  constexpr std::size_t kHeaderEnd = 33;  // the signature and IHDR
  const auto perMetre = static_cast<std::uint32_t>(std::lround(dpi / kMillimetresPerInch * 1000));
  std::array<std::uint8_t, 21> chunk{0, 0, 0, 9, 'p', 'H', 'Y', 's'};
  const auto put = [&chunk](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) chunk[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  };
  put(8, perMetre);
  put(12, perMetre);
  chunk[16] = 1;
  put(17, checksum(chunk.data() + 4, 13));
  png.insert(png.begin() + kHeaderEnd, chunk.begin(), chunk.end());
}

std::string lengthText(const std::optional<Length>& length, double natural, double scale) {
  if (!length) return fmt::format("{:.6g}", natural * scale);
  return fmt::format("{:.6g}{}", length->value, length->millimetres ? "mm" : "");
}

attention::Status writeSvg(const std::filesystem::path& path, const Drawing& drawing,
                           const PictureSize& size) {
  SvgOptions options;
  const bool sized = size.width || size.height;
  // The missing side of a sized picture gets the other's unit.
  std::optional<Length> width = size.width, height = size.height;
  const double aspect = drawing.width / drawing.height;
  if (sized && !width) width = Length{height->value * aspect, height->millimetres};
  if (sized && !height) height = Length{width->value / aspect, width->millimetres};
  options.width = lengthText(width, drawing.width, size.scale);
  options.height = lengthText(height, drawing.height, size.scale);
  return attention::writeFile(path, svgText(drawing, options));
}

attention::Status writePng(const std::filesystem::path& path, const Drawing& drawing, const PictureSize& size,
                           const MemoryBudget& memory, const std::shared_ptr<PictureFonts>& fonts) {
  const Result<PixelSize> pixels = pixelSizeOf(drawing, size);
  if (!pixels) return pixels.error();
  // The image, and at most twice as much for the file.
  const auto needed =
      12 * static_cast<std::uint64_t>(pixels->width) * static_cast<std::uint64_t>(pixels->height);
  const MemoryShare share = memory.reserve(needed);
  if (!share)
    return Error{fmt::format("a picture of {} × {} pixels needs {}, and {} of the budget of {} is in use",
                             pixels->width, pixels->height, bytesText(static_cast<double>(needed)),
                             bytesText(static_cast<double>(memory.used())),
                             bytesText(static_cast<double>(memory.total())))};
  const Result<render::Image> image = pixelImage(drawing, pixels->width, pixels->height, fonts);
  if (!image) return Error{path.filename().string() + ": " + image.error().message};
  std::vector<std::uint8_t> png = render::encodePng(*image);
  if ((size.width && size.width->millimetres) || (size.height && size.height->millimetres))
    addResolution(png, size.dpi);
  return attention::writeFile(path, png);
}

}  // namespace

Result<Length> parseLength(const std::string& text) {
  Length length;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, length.value, std::chars_format::fixed);
  const std::string unit(parsed.ptr, end);
  length.millimetres = unit == "mm";
  if (parsed.ec != std::errc() || !(unit.empty() || unit == "px" || unit == "mm") ||
      !(length.value > 0 && length.value <= 1e6))
    return Error{attention::quotedText(text) +
                 " is not a length, expected pixels such as 800 or millimetres such as 120mm"};
  return length;
}

Result<PixelSize> pixelSizeOf(const Drawing& drawing, const PictureSize& size) {
  const Extent extent = extentOf(drawing, size);
  const double width = std::round(extent.width), height = std::round(extent.height);
  const auto fits = [](double side) { return side >= 16 && side <= kMostSide; };
  if (!fits(width) || !fits(height) || width * height > static_cast<double>(kMostPixels))
    return Error{
        fmt::format("the picture would be {:.0f} × {:.0f} pixels, expected 16 to {} a side and at most {} "
                    "in all",
                    width, height, countText(kMostSide), countText(kMostPixels))};
  return PixelSize{static_cast<int>(width), static_cast<int>(height)};
}

Result<PictureFormat> pictureFormat(const std::filesystem::path& path) {
  const std::string ending = attention::lowerCase(path.extension().string());
  const auto found = std::find(kPictureEndings.begin(), kPictureEndings.end(), ending);
  if (found != kPictureEndings.end()) return static_cast<PictureFormat>(found - kPictureEndings.begin());
  return Error{path.filename().string() + " ends in " + attention::quotedText(ending) +
               ", expected .png, .svg or .pdf"};
}

attention::Status writePdf(const std::filesystem::path& path, const std::vector<Drawing>& pages,
                           const PictureSize& size, const std::shared_ptr<PictureFonts>& fonts) {
  if (pages.empty()) return Error{path.filename().string() + " would have no page, expected at least one"};
  const Drawing& drawing = pages.front();
  constexpr double kPointsPerInch = 72, kPixelsPerInch = 96;
  constexpr double kMaxPoints = 14400;  // PDF 1.7, annex C: 200 inches a side
  PictureSize onPaper = size;
  onPaper.dpi = kPixelsPerInch;
  const Extent extent = extentOf(drawing, onPaper);
  const double width = extent.width * kPointsPerInch / kPixelsPerInch,
               height = extent.height * kPointsPerInch / kPixelsPerInch;
  if (!(width >= 1 && height >= 1 && width <= kMaxPoints && height <= kMaxPoints))
    return Error{fmt::format("the page would be {:.0f} × {:.0f} points, expected 1 to {} a side", width,
                             height, countText(static_cast<Index>(kMaxPoints)))};
  // `dpi` is the resolution of large matrices, which are images.
  const Result<std::string> file = pdfFile(pages, width, height, size.dpi, fonts);
  if (!file) return Error{path.filename().string() + ": " + file.error().message};
  return attention::writeFile(path, *file);
}

attention::Status writePicture(const std::filesystem::path& path, const Drawing& drawing,
                               const PictureSize& size, const MemoryBudget& memory,
                               const std::shared_ptr<PictureFonts>& fonts) {
  const Result<PictureFormat> format = pictureFormat(path);
  if (!format) return format.error();
  const bool both = size.width && size.height;
  const Extent extent = extentOf(drawing, size);
  const Drawing page = both ? fittedTo(drawing, extent.width / extent.height) : drawing;
  switch (*format) {
    case PictureFormat::svg:
      return writeSvg(path, page, size);
    case PictureFormat::pdf:
      return writePdf(path, {page}, size, fonts);
    case PictureFormat::png:
      break;
  }
  return writePng(path, page, size, memory, fonts);
}

namespace {

/// Returns an Error unless the scene has what a picture of a model needs.
attention::Status checkModel(PictureKind kind, const Scene& scene) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened && !isStack(scene.setup))
    return Error{"the scene has no model: name a model's folder, or learned"};
  if (kind != PictureKind::model && (!opened || !opened->model))
    return Error{"this needs a model that predicts tokens, such as learned"};
  if (kind == PictureKind::patch && scene.compare.other.empty())
    return Error{"compare.text is empty, expected a second text to patch from"};
  return attention::success();
}

/// Returns an Error if recorded attention can't show the picture.
attention::Status checkRecorded(PictureKind kind, const Scene& scene) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened || !opened->recorded) return attention::success();
  if (kind == PictureKind::mask)
    return Error{opened->name + " is recorded attention, which contains no mask"};
  const attention::RecordedLayer& layer = opened->recorded->layers().front();
  if (kind == PictureKind::cache && (!layer.k || !layer.v))
    return Error{opened->name + " is imported attention without k and v, so there is no cache to draw"};
  const bool heads = kind == PictureKind::head || kind == PictureKind::heads;
  if (heads && scene.look.quantity == Quantity::scores)
    return Error{opened->name + " is recorded attention, which has weights and no scores: choose weights"};
  return attention::success();
}

}  // namespace

Result<Scene> paintedScene(PictureKind kind, Scene scene) {
  if (const auto status = checkRecorded(kind, scene); !status) return status.error();
  if (kind == PictureKind::page) return scene;
  Cursor& cursor = scene.cursor;
  if (isOfModel(kind)) {
    if (const auto status = checkModel(kind, scene); !status) return status.error();
    const auto view = std::ranges::find(kModelViewNames, kPictureNames[static_cast<std::size_t>(kind)]);
    const auto at = view == kModelViewNames.end() ? 0 : view - kModelViewNames.begin();
    cursor.model.view = static_cast<ModelView>(at);
    cursor.page = "model";
    return scene;
  }
  const Index head = std::max<Index>(0, cursor.focus >= 0 ? cursor.focus : cursor.cell.head);
  const std::string page(kind == PictureKind::head ? "heads" : kPictureNames[static_cast<std::size_t>(kind)]);
  if (page == "mask" && cursor.page != page) cursor.studio.tab = StudioTab::mask;
  if (page == "cache" && cursor.page != page) cursor.cacheView = CacheView::growth;
  cursor.page = page;
  cursor.cell.head = head;
  cursor.focus = kind == PictureKind::head ? head : -1;
  return scene;
}

PictureKind shownPicture(const Scene& scene) {
  if (scene.cursor.page == "mask") return PictureKind::mask;
  if (scene.cursor.page == "map") return PictureKind::map;
  if (scene.cursor.page == "cache") return PictureKind::cache;
  if (scene.cursor.page == "cost") return PictureKind::cost;
  if (scene.cursor.page != "heads") return PictureKind::page;
  return scene.cursor.focus >= 0 ? PictureKind::head : PictureKind::heads;
}

namespace {

std::string quoted(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : attention::quotedField(text);
}

}  // namespace

std::string matrixCsv(const attention::MatrixView& values, const std::vector<attention::Token>& queries,
                      const std::vector<attention::Token>& keys) {
  std::string csv;
  for (const attention::Token& key : keys) csv += ',' + quoted(key.text);
  csv += '\n';
  for (attention::Index row = 0; row < values.rows(); ++row) {
    csv += quoted(queries[static_cast<std::size_t>(row)].text);
    for (attention::Index col = 0; col < values.cols(); ++col)
      fmt::format_to(std::back_inserter(csv), ",{}", values(row, col));
    csv += '\n';
  }
  return csv;
}

}  // namespace headscope::app
