#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "render/colormap.h"

namespace headscope::render {

/// Special cell values. Other non-finite values are drawn in the NaN colour.
inline constexpr float kMaskedCell = -std::numeric_limits<float>::infinity();
inline constexpr float kDeadCell = -std::numeric_limits<float>::max();  ///< a row that sees no key

/// Framebuffer pixels, y down from the top.
struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
};

/// Matrices of floats on the GPU, one R32F texture per layer. Move-only. Empty until the first resize and
/// after a move. Its context must be current whenever it is not empty.
class HeatmapTextures {
 public:
  HeatmapTextures();
  ~HeatmapTextures();
  HeatmapTextures(HeatmapTextures&&) noexcept;
  HeatmapTextures& operator=(HeatmapTextures&&) noexcept;

  /// Keeps the contents if the shape is unchanged; otherwise they are undefined. If the device's limits are
  /// exceeded, throws std::runtime_error naming them and keeps the old textures.
  void resize(int layers, int rows, int cols);
  /// values is [rows, cols], row-major. Other layers are unchanged.
  void upload(int layer, const float* values);
  /// Returns all layers as uploaded, [layers, rows, cols].
  std::vector<float> read() const;

  int layers() const;
  int rows() const;
  int cols() const;
  std::size_t bytes() const;  ///< GPU memory
  /// Changes whenever the layer's values may have changed. Unique across all textures; 0 if there is no such
  /// layer.
  std::uint64_t version(int layer) const;

 private:
  friend class HeatmapPainter;
  unsigned texture(int layer) const;  ///< the OpenGL name
  struct State;
  std::unique_ptr<State> state_;
};

/// A colour ramp from `low` to `high`, through `middle` halfway if set. Replaces a colormap.
struct Tint {
  Color low, high;
  std::optional<Color> middle = {};
  bool operator==(const Tint&) const = default;
};

/// How values become colours. Changing it uploads nothing.
struct HeatmapStyle {
  Colormap colormap = Colormap::viridis;
  float low = 0, high = 1;   ///< the values at the ends of the colormap
  bool logarithmic = false;  ///< even steps of log(value) between low and high (both > 0)
  std::optional<Tint> tint;  ///< replaces the colormap if set
  Color background;          ///< under masked cells and in the gaps
  Color masked{0, 0, 0, 0};  ///< blended over the background of masked cells by its alpha
  Color maskedHatch;         ///< faint diagonal hatch on masked cells
  Color deadHatch;           ///< strong cross hatch on rows that see no key
  Color nan{1, 0, 0.85f, 1};
  float gap = 1;  ///< pixels between cells, at their right and lower edges; fades out as cells shrink from 10
                  ///< to 6 gaps across
  float hatchSpacing = 12;  ///< pixels between lines along a row, rounded; lines are a twelfth of it thick
};

/// The value shown by a pixel that covers several cells: the cell at its centre, or the maximum or mean of
/// the cells whose centres it contains.
enum class CellPooling { none, max, mean };

/// Which part of which layer is drawn, and where.
struct HeatmapView {
  Rect target;  ///< where the cells are drawn
  Rect clip;    ///< the only pixels that may be changed
  int layer = 0;
  float firstRow = 0, firstCol = 0;               ///< top left cell, fractional while panning
  float rows = 1, cols = 1;                       ///< cells across the target
  int litRows = std::numeric_limits<int>::max();  ///< rows from here on are faded: not yet decoded
  float fade = 0.16f;                             ///< opacity of faded rows
  CellPooling pooling = CellPooling::none;        ///< for cells of 0.5 to 1 pixel; not while mixing
};

/// A painter of opaque heatmaps in the bound framebuffer. Cell edges snap to whole pixels, so they are crisp
/// at any size and offset. Cells smaller than a pixel are point-sampled unless the view pools them; pool the
/// values first if cells are smaller than half a pixel. Restores the state it changes, except the bound
/// program, vertex array and texture units 0–2.
class HeatmapPainter {
 public:
  /// Compiles the shaders from the given sources, so that render/ reads no files. Throws std::runtime_error
  /// with the compiler's log.
  HeatmapPainter(const std::string& vertexSource, const std::string& fragmentSource);
  ~HeatmapPainter();
  HeatmapPainter(const HeatmapPainter&) = delete;
  HeatmapPainter& operator=(const HeatmapPainter&) = delete;

  /// Draws the layer as one quad. If `previous` is given, it must have the same shape, and values are mixed
  /// from previous to current by `blend` in 0..1 (1 = current only); cells whose kind differs switch at once.
  /// Cells outside the matrix show the background. Throws std::invalid_argument if the layer or shape doesn't
  /// fit, the view has no cells, or a logarithmic range is not positive.
  void draw(const HeatmapTextures& current, const HeatmapTextures* previous, float blend,
            const HeatmapView& view, const HeatmapStyle& style, int framebufferWidth, int framebufferHeight);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::render
