#include "app/mask_picture.h"

#include <algorithm>

#include "app/mask_study.h"
#include "app/theme.h"
#include "attention/formats/file_io.h"
#include "render/heatmap.h"
#include "render/image.h"

namespace headscope::app {

attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   Index variant, bool light) {
  constexpr Index kMostPixels = 4096;
  Index factor = 1;
  while ((std::max(mask.queries(), mask.keys()) + factor - 1) / factor > kMostPixels) factor *= 2;
  const attention::Matrix cells = drawMask(mask, variant, factor);
  const Theme& theme = light ? lightTheme() : darkTheme();
  render::Image image;
  image.width = static_cast<int>(cells.cols());
  image.height = static_cast<int>(cells.rows());
  image.rgba.reserve(static_cast<std::size_t>(cells.size()) * 4);
  for (Index i = 0; i < cells.size(); ++i) {
    const float share = cells.data()[i];
    const std::uint32_t color = share == render::kMaskedCell || share == render::kDeadCell
                                    ? theme.background
                                    : mixed(mixed(theme.background, theme.text, 0.25f), theme.text, share);
    for (const int shift : {0, 8, 16, 24}) image.rgba.push_back(static_cast<std::uint8_t>(color >> shift));
  }
  return attention::writeFile(path, render::encodePng(image));
}

}  // namespace headscope::app
