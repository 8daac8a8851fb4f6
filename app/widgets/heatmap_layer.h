#pragma once

#include <deque>
#include <span>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/layer/snapshot.h"
#include "app/platform/canvas.h"
#include "attention/core/tensor.h"
#include "render/heatmap.h"

namespace headscope::app {

/// Matrices on the GPU that ease from old to new values. Keeps a copy of the uploaded values to upload only
/// matrices that changed.
class EasedTextures {
 public:
  /// values is [layers, rows, cols]. With `ease`, if the shape is unchanged and small enough, the picture
  /// moves from the old to the new values over kEaseSeconds.
  void set(const attention::Stack& values, double now, bool ease);
  /// Sets one matrix as the only layer.
  void set(const attention::Matrix& values, double now, bool ease);
  bool empty() const { return copies_[current_].empty(); }
  float blend(double now) const;
  /// The current values, or those being eased to, [layers, rows, cols].
  const attention::Stack& values() const { return copies_[current_]; }
  const render::HeatmapTextures& current() const { return textures_[current_]; }
  const render::HeatmapTextures* previous() const { return easing_ ? &textures_[1 - current_] : nullptr; }
  std::size_t bytes() const { return textures_[0].bytes() + textures_[1].bytes(); }
  std::size_t uploads() const { return uploads_; }  ///< layers uploaded so far

 private:
  static constexpr double kEaseSeconds = 0.12;
  render::HeatmapTextures textures_[2];
  attention::Stack copies_[2];
  int current_ = 0;
  bool easing_ = false;
  double changedAt_ = -1;
  std::size_t uploads_ = 0;
};

/// One picture to draw: its view, and the value range of its colours.
struct HeatmapTile {
  render::HeatmapView view;
  ValueRange range = {};
};

/// A tile as drawn, for vector pictures.
struct PaintedCells {
  Cells cells;          ///< every cell visible at least in part; the frame may extend beyond `seen`
  Frame seen;           ///< the visible area; the style's background fills it
  double litShare = 1;  ///< share of the cells' height that is lit; below, they are faded
  float fade = 1;       ///< opacity of the faded part
};

/// The layer that draws a Snapshot's matrices inside ImGui's draw lists, so that panels need no OpenGL.
class HeatmapLayer {
 public:
  /// Compiles the shaders from the assets. Throws std::runtime_error if they are missing or don't compile.
  HeatmapLayer();

  void beginFrame(int width, int height, double now);
  /// Draws the tiles one by one at this point in the list; nothing if there are no textures yet. Uses the
  /// tiles' ranges, not the style's. The textures must still exist when the frame is rendered.
  void draw(Canvas list, const EasedTextures& textures, const render::HeatmapStyle& style,
            std::vector<HeatmapTile> tiles);
  /// The same for textures that don't ease.
  void draw(Canvas list, const render::HeatmapTextures& textures, const render::HeatmapStyle& style,
            std::vector<HeatmapTile> tiles);

  /// Returns what the draw callback with this data draws.
  std::vector<PaintedCells> painted(const void* data) const;
  /// Whether a picture in this frame is still easing.
  bool moving() const { return moving_; }

 private:
  struct Batch : CallbackPart {
    HeatmapLayer* layer;
    const EasedTextures* eased;               ///< null = `textures` is set
    const render::HeatmapTextures* textures;  ///< null = `eased` is set
    render::HeatmapStyle style;
    std::vector<HeatmapTile> tiles;

    Batch(HeatmapLayer* of, const EasedTextures* easing, const render::HeatmapTextures* still,
          const render::HeatmapStyle& look, std::vector<HeatmapTile> what)
        : layer(of), eased(easing), textures(still), style(look), tiles(std::move(what)) {}
    const render::HeatmapTextures& current() const { return eased ? eased->current() : *textures; }
    float blend() const { return eased ? eased->blend(layer->now_) : 1; }
    void draw(const render::PixelBox& box) override;
    void describe(const std::function<void(const ImRect&, std::uint64_t)>& part) const override;
  };
  void add(Canvas list, Batch batch);

  render::HeatmapPainter painter_;
  std::deque<Batch> batches_;  // of the current frame; ImGui keeps pointers to them until it is rendered
  int width_ = 0, height_ = 0;
  double now_ = 0;
  bool moving_ = false;
};

}  // namespace headscope::app
