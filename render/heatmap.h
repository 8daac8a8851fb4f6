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

/// Cell values with a meaning of their own. Any other value that is not finite is drawn in the NaN colour.
inline constexpr float kMaskedCell = -std::numeric_limits<float>::infinity();
inline constexpr float kDeadCell = -std::numeric_limits<float>::max();  ///< a row that sees no key

/// Framebuffer pixels, y down from the top.
struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
};

/// Matrices of floats on the GPU: a layer for each is an R32F texture.
/// Move-only; empty until the first resize and once moved from. Needs its context current while not empty.
class HeatmapTextures {
 public:
  HeatmapTextures();
  ~HeatmapTextures();
  HeatmapTextures(HeatmapTextures&&) noexcept;
  HeatmapTextures& operator=(HeatmapTextures&&) noexcept;

  /// Keeps the contents where the shape is unchanged; otherwise they are undefined. Throws
  /// std::runtime_error where the device's limits are exceeded, naming them, and keeps what was there.
  void resize(int layers, int rows, int cols);
  /// values [rows, cols], row-major. Leaves the other layers alone.
  void upload(int layer, const float* values);
  /// All layers as they were uploaded: [layers, rows, cols].
  std::vector<float> read() const;

  int layers() const;
  int rows() const;
  int cols() const;
  std::size_t bytes() const;  ///< GPU memory
  /// Another number whenever the layer's values may have changed, of all textures there ever were.
  std::uint64_t version(int layer) const;

 private:
  friend class HeatmapPainter;
  unsigned texture(int layer) const;  ///< the OpenGL name
  struct State;
  std::unique_ptr<State> state_;
};

/// A ramp of one's own between two colours, through a third half way where there is one, in place of a
/// colormap.
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
  std::optional<Tint> tint;  ///< instead of the colormap
  Color background;          ///< under masked cells, and what the gaps show
  Color masked{0, 0, 0, 0};  ///< laid over the background of masked cells by its alpha
  Color maskedHatch;         ///< faint diagonal hatch on masked cells
  Color deadHatch;           ///< strong cross hatch on rows that see no key
  Color nan{1, 0, 0.85f, 1};
  float gap = 1;            ///< pixels between cells, at their right and lower edges; fades out as cells
                            ///< shrink from 10 to 6 gaps across
  float hatchSpacing = 12;  ///< pixels from line to line along a row; lines are a twelfth of it thick
};

/// What a pixel that stands for several cells shows: the one in its middle, the largest or the mean of those
/// whose middles lie in it.
enum class CellPooling { none, max, mean };

/// What part of which layer goes where.
struct HeatmapView {
  Rect target;  ///< where the cells go
  Rect clip;    ///< what may be touched
  int layer = 0;
  float firstRow = 0, firstCol = 0;               ///< top left cell, fractional while panning
  float rows = 1, cols = 1;                       ///< cells across the target
  int litRows = std::numeric_limits<int>::max();  ///< rows from here on are drawn faded: not yet decoded
  float fade = 0.16f;                             ///< how much of a faded row remains
  CellPooling pooling = CellPooling::none;  ///< of cells of half a pixel up to one; not while values mix
};

/// Draws heatmaps into the bound framebuffer, opaque. Cell edges fall on whole pixels, so that they are
/// crisp at any size and offset. Cells smaller than a pixel are point-sampled unless the
/// view pools them; pool before where they are smaller than half of one. Restores the state
/// it changes, apart from the bound program, vertex array and texture units 0–2.
class HeatmapPainter {
 public:
  /// Compiles the shaders (sources are given, so that render/ reads no files). Throws std::runtime_error
  /// with the compiler's log.
  HeatmapPainter(const std::string& vertexSource, const std::string& fragmentSource);
  ~HeatmapPainter();
  HeatmapPainter(const HeatmapPainter&) = delete;
  HeatmapPainter& operator=(const HeatmapPainter&) = delete;

  /// One quad for the whole layer. With `previous` of the same shape, values are mixed from previous to
  /// current by `blend` in 0..1 (1 = current alone); cells whose kind differs switch at once. Cells outside
  /// the matrix show the background. Throws std::invalid_argument on a layer or a shape that does not fit,
  /// on a view without cells, and on a logarithmic range that is not positive.
  void draw(const HeatmapTextures& current, const HeatmapTextures* previous, float blend,
            const HeatmapView& view, const HeatmapStyle& style, int framebufferWidth, int framebufferHeight);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Max-pools values [rows, cols] by factor × factor into out [⌈rows/factor⌉, ⌈cols/factor⌉]: a bright
/// cell stays visible. NaN wins over everything; finite over dead over masked.
void maxPool(const float* values, int rows, int cols, int factor, float* out);

}  // namespace headscope::render
