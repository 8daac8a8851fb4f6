#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/compute/figures/drawing.h"
#include "app/compute/jobs/memory_budget.h"
#include "attention/core/result.h"

namespace headscope::app {

/// "800", "800px" or "120mm".
struct Length {
  double value = 0;
  bool millimetres = false;
  bool operator==(const Length&) const = default;
};
attention::Result<Length> parseLength(const std::string& text);

/// How large a picture is made: `scale` pixels a unit, or as wide and as high as is said; what is left out
/// follows from the drawing, and where both are given the drawing stands in the middle.
struct PictureSize {
  std::optional<Length> width = {}, height = {};
  double dpi = 300;  ///< pixels of an inch, for millimetres
  double scale = 1;
};

inline constexpr int kMostSide = 16384;
inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 26;

struct PixelSize {
  int width = 0, height = 0;
  bool operator==(const PixelSize&) const = default;
};
/// Pixels of a PNG. The error names the size where it is not 16 to 16,384 a side, at most 2²⁶ in all.
attention::Result<PixelSize> pixelSizeOf(const Drawing& drawing, const PictureSize& size);

/// What its ending says a picture is written as.
enum class PictureFormat { png, svg, pdf };
inline constexpr std::array<std::string_view, 3> kPictureEndings{".png", ".svg", ".pdf"};
attention::Result<PictureFormat> pictureFormat(const std::filesystem::path& path);

/// Writes a drawing as PNG, SVG or PDF, as the path ends. PNGs of a size in millimetres say how large they
/// are; in a PDF a pixel is 1/96 inch, as CSS has it. The pixels are counted in `memory` while they are
/// drawn.
attention::Status writePicture(const std::filesystem::path& path, const Drawing& drawing,
                               const PictureSize& size, const MemoryBudget& memory);

/// The same as a PDF with a page for each of them; all pages have the size of the first.
attention::Status writePdf(const std::filesystem::path& path, const std::vector<Drawing>& pages,
                           const PictureSize& size);

}  // namespace headscope::app
