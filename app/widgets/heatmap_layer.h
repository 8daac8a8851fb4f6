#pragma once

#include <deque>
#include <span>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/layer/value_range.h"
#include "app/platform/canvas.h"
#include "app/platform/damage.h"
#include "attention/core/tensor.h"
#include "render/heatmap.h"

namespace headscope::app {

/// Matrices on the GPU that ease from what they were to what they are. Keeps a copy of what was uploaded
/// so that only matrices that changed travel again.
class EasedTextures {
 public:
  /// values [layers, rows, cols]. With `ease`, and where the shape is the same and small enough, the picture
  /// moves from the old values to the new ones over kEaseSeconds.
  void set(const attention::Stack& values, double now, bool ease);
  /// One matrix as the only layer.
  void set(const attention::Matrix& values, double now, bool ease);
  bool empty() const { return copies_[current_].empty(); }
  float blend(double now) const;
  /// What it is or moves to, [layers, rows, cols].
  const attention::Stack& values() const { return copies_[current_]; }
  const render::HeatmapTextures& current() const { return textures_[current_]; }
  const render::HeatmapTextures* previous() const { return easing_ ? &textures_[1 - current_] : nullptr; }
  std::size_t bytes() const { return textures_[0].bytes() + textures_[1].bytes(); }
  std::size_t uploads() const { return uploads_; }  ///< layers sent so far

 private:
  static constexpr double kEaseSeconds = 0.12;
  render::HeatmapTextures textures_[2];
  attention::Stack copies_[2];
  int current_ = 0;
  bool easing_ = false;
  double changedAt_ = -1;
  std::size_t uploads_ = 0;
};

/// One picture to draw: where, which layer, and what its colours run over.
struct HeatmapTile {
  render::HeatmapView view;
  ValueRange range = {};
};

/// A tile as it was drawn, for pictures without pixels.
struct PaintedCells {
  Cells cells;          ///< those that are seen, whole; its frame may stand out of what is seen
  Frame seen;           ///< which the style's background fills
  double litShare = 1;  ///< of the cells' height: below it they are faded
  float fade = 1;       ///< to what they are faded there
};

/// The way from a Snapshot's matrices to pixels inside ImGui's draw lists, so that panels stay free of GL.
class HeatmapLayer {
 public:
  /// Compiles the shaders from the assets. Throws std::runtime_error.
  HeatmapLayer();

  void beginFrame(int width, int height, double now);
  /// Draws the tiles at this place of the list, one after the other; nothing where there are no pictures yet.
  /// The style's own range is not looked at.
  /// The textures have to be there still when the frame is drawn.
  void draw(Canvas list, const EasedTextures& textures, const render::HeatmapStyle& style,
            std::vector<HeatmapTile> tiles);
  /// The same with textures that don't ease.
  void draw(Canvas list, const render::HeatmapTextures& textures, const render::HeatmapStyle& style,
            std::vector<HeatmapTile> tiles);

  /// What the draw callback with this data draws.
  std::vector<PaintedCells> painted(const void* data) const;
  /// Whether a picture of this frame is still moving.
  bool moving() const { return moving_; }

 private:
  struct Batch : CallbackPart {
    HeatmapLayer* layer;
    const EasedTextures* eased;               ///< or null,
    const render::HeatmapTextures* textures;  ///< and then these
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
  std::deque<Batch> batches_;  // of the frame that is being built; ImGui keeps pointers until it is drawn
  int width_ = 0, height_ = 0;
  double now_ = 0;
  bool moving_ = false;
};

}  // namespace headscope::app
