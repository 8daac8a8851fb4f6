#pragma once

#include "app/compute/figures/picture_formats.h"

namespace headscope::app {

/// A length such as "800", "800px" or "120mm".
struct Length {
  double value = 0;
  bool millimetres = false;
  bool operator==(const Length&) const = default;
};
attention::Result<Length> parseLength(const std::string& text);

/// The size of a picture: `scale` pixels per unit, or the given width and height. If only one is given, the
/// drawing's aspect determines the other; if both are given, the drawing is centred.
struct PictureSize {
  std::optional<Length> width = {}, height = {};
  double dpi = 300;  ///< pixels per inch, for millimetres
  double scale = 1;
};

inline constexpr int kMostSide = 16384;
inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 26;

struct PixelSize {
  int width = 0, height = 0;
  bool operator==(const PixelSize&) const = default;
};
/// Returns the pixels of a PNG. The Error names the size unless both sides are 16 to 16,384 and there are at
/// most 2²⁶ pixels.
attention::Result<PixelSize> pixelSizeOf(const Drawing& drawing, const PictureSize& size);

/// The format of a picture, by the ending of its path.
enum class PictureFormat { png, svg, pdf };
inline constexpr std::array<std::string_view, 3> kPictureEndings{".png", ".svg", ".pdf"};
attention::Result<PictureFormat> pictureFormat(const std::filesystem::path& path);

/// Writes a drawing as PNG, SVG or PDF, by the ending of the path. A PNG sized in millimetres stores its
/// resolution. In a PDF a pixel is 1/96 inch, as in CSS. For a PNG, the pixels count in `memory` while they
/// are drawn.
attention::Status writePicture(const std::filesystem::path& path, const Drawing& drawing,
                               const PictureSize& size, const MemoryBudget& memory,
                               const std::shared_ptr<PictureFonts>& fonts = pictureFonts());

/// Writes a PDF with one page per drawing; all pages have the size of the first.
attention::Status writePdf(const std::filesystem::path& path, const std::vector<Drawing>& pages,
                           const PictureSize& size,
                           const std::shared_ptr<PictureFonts>& fonts = pictureFonts());

/// The subject of a picture.
enum class PictureKind { heads, head, mask, cache, map, cost, model, patch, attribution, lens, page };
inline constexpr std::array<std::string_view, 11> kPictureNames{
    "heads", "head", "mask", "cache", "map", "cost", "model", "patch", "attribution", "lens", "page"};

/// Returns the picture of the current page: all heads or the focused one, the mask, the map, the cache, or
/// the costs of a model; otherwise the page itself.
PictureKind shownPicture(const Scene& scene);
/// Returns the scene on the page that draws such a picture. Returns an Error if the scene lacks the model it
/// needs, or if recorded attention has nothing of the kind.
attention::Result<Scene> paintedScene(PictureKind kind, Scene scene);
/// Whether it is a view of the Model page.
inline bool isOfModel(PictureKind kind) {
  return kind == PictureKind::model || kind == PictureKind::patch || kind == PictureKind::attribution ||
         kind == PictureKind::lens;
}

/// Returns comma-separated values (RFC 4180): the keys in the first line, then one line per query with its
/// token and its values [queries, keys], which read back as the same floats.
std::string matrixCsv(const attention::MatrixView& values, const std::vector<attention::Token>& queries,
                      const std::vector<attention::Token>& keys);

}  // namespace headscope::app
