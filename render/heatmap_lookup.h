#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "render/heatmap.h"

namespace headscope::render {

/// Returns 0 up to `from`, 1 from `to` on, and a smooth ramp between.
float smoothStep(float from, float to, float x);

/// The colours of values and special cells, as a texture that the shader looks them up in. Special cells have
/// diagonal lines where they are large and an even tone of the same weight where they are small; the lines
/// repeat every period() pixels, 1 for the tone alone. The texels, [period + 1, 256 + period]:
///
///   [0, v]                  value v of 255
///   [1, 0]                  not a number
///   [rising, 256 + falling] a dead cell, by the pixel's places between rising and between falling lines
///   [period, 256 + falling] a masked cell
class HeatmapLookup {
 public:
  /// `smallestCell`: the shorter side of a cell, in pixels.
  HeatmapLookup(const HeatmapStyle& style, float smallestCell);
  bool operator==(const HeatmapLookup&) const = default;

  int period() const { return period_; }
  int rows() const { return period_ + 1; }
  int columns() const { return 256 + period_; }
  std::vector<std::uint8_t> texels() const;  ///< RGBA

 private:
  float lineAt(int place) const;
  Color mixed(const Color& lines, float line, float tone) const;

  Colormap colormap_;
  std::optional<Tint> tint_;
  Color nan_, ground_, maskedLines_, deadLines_;
  int period_;
  float lines_;  ///< 1 = lines, 0 = an even tone
  float tone_;   ///< the tone's weight on masked cells
};

}  // namespace headscope::render
