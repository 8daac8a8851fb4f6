#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "app/compute/model/layer_summary.h"
#include "app/compute/model/model_study.h"
#include "app/scene/scene.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"
#include "render/rgb_texture.h"

namespace headscope::app::model_page {

struct State;

/// The layers of a model that have been computed so far.
using Layers = std::vector<std::shared_ptr<const LayerSummary>>;

/// The model page's textures. Each picture stores what it was made from and is redrawn only when that
/// changes. Panels write the sizes they draw at, and read the pictures drawn for those sizes.
struct Pictures {
  using Layer = std::shared_ptr<const LayerSummary>;
  /// What a picture was made from: a layer's thumbnails or one head's weights, with `pooled` × `pooled` cells
  /// merged into one.
  struct Source {
    Layer layer;
    Index head = -1;  ///< −1: all of them
    int pooled = 0;
    bool firstOut = false;
    bool operator==(const Source&) const = default;
  };
  struct Picture {
    EasedTextures textures;
    int factor = 1;  ///< tokens per cell of the picture
    Source source;
  };
  /// The magnifier's picture of `heads`, (layer, head) pairs; `wanted` are those it needed in the last frame.
  struct Magnified {
    EasedTextures textures;
    int factor = 1;
    std::vector<std::pair<Index, Index>> wanted, heads;
    float pixels = 0;  ///< size of one head
    std::vector<Source> sources;
  };

  /// The maps of a layer's heads over the picture, stacked vertically, or the map of one head.
  struct Overlay {
    struct Source {
      Layer layer;
      std::shared_ptr<const OpenPicture> picture;
      std::shared_ptr<const ModelStudy> study;
      PictureMapChoice choice;
      Index head = -1;  ///< −1: all of them
      Index side = 0;   ///< length of the longer side in pixels
      render::Colormap colormap = render::Colormap::viridis;
      bool operator==(const Source&) const = default;
    };
    render::RgbTexture texture;
    Source source;
    attention::Vector map;  ///< [n], of the last head drawn
  };

  std::vector<Overlay> overlays;  ///< thumbnails, one texture per layer, if tokens are a picture's patches
  Overlay large;
  float largeSide = 256;      ///< longer side of `large` in pixels, as drawn in the last frame
  std::vector<Picture> rows;  ///< thumbnails, one set per layer
  float rowPixels = 64;       ///< size of one thumbnail, as drawn in the last frame
  Picture head;               ///< the previewed head
  float headCell = 8;         ///< pixels per cell, as drawn in the last frame
  Magnified magnified;
  EasedTextures cache;
  std::shared_ptr<const ModelStudy> cacheOf;

  void show(const Scene& scene, const State& page);
  std::size_t bytes() const;

 private:
  void showRow(const Scene& scene, const View& view, const Layers& layers, std::size_t at, bool ease);
  void showHead(const Scene& scene, const State& page, bool ease);
  void showOverlay(const Scene& scene, const State& page, Index layer, Index head, Overlay& overlay);
  void showMagnified(const Scene& scene, const View& view, const Layers& layers);
};

}  // namespace headscope::app::model_page
