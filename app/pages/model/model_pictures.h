#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "app/compute/model/model_study.h"
#include "app/compute/model/picture_map.h"
#include "app/scene/scene.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"
#include "render/rgb_texture.h"

namespace headscope::app::model_page {

struct State;

/// What each layer of a model does, as far as it has come.
using Layers = std::vector<std::shared_ptr<const LayerSummary>>;

/// What the page of a model has on the GPU. Each picture knows what it was made of, and is made anew only
/// where that has changed. Panels write here how large they draw, and read the pictures that came of it.
struct Pictures {
  using Layer = std::shared_ptr<const LayerSummary>;
  /// Made of a layer's thumbnails, `pooled` cells of theirs in one.
  struct Source {
    Layer layer;
    Index head = -1;  ///< −1: all of them
    int pooled = 0;
    bool firstOut = false;
    bool operator==(const Source&) const = default;
  };
  struct Picture {
    EasedTextures textures;
    int factor = 1;  ///< cells of the text in one of the picture
    Source source;
  };
  /// What the magnifier draws: `heads`, by layer and head, of what it `wanted` in the last frame.
  struct Magnified {
    EasedTextures textures;
    int factor = 1;
    std::vector<std::pair<Index, Index>> wanted, heads;
    float pixels = 0;  ///< of one head
    std::vector<Source> sources;
  };

  /// A layer's heads over the picture, one below the other, or one head.
  struct Overlay {
    struct Source {
      Layer layer;
      std::shared_ptr<const OpenPicture> picture;
      std::shared_ptr<const ModelStudy> study;
      PictureMapChoice choice;
      Index head = -1;  ///< −1: all of them
      Index side = 0;   ///< pixels of the longer side
      render::Colormap colormap = render::Colormap::viridis;
      bool operator==(const Source&) const = default;
    };
    render::RgbTexture texture;
    Source source;
    attention::Vector map;  ///< [n] of the last head
  };

  std::vector<Overlay> overlays;  ///< a layer's thumbnails, where tokens are a picture's
  Overlay large;
  float largeSide = 256;      ///< pixels of its longer side, as drawn in the last frame
  std::vector<Picture> rows;  ///< a layer's thumbnails
  float rowPixels = 64;       ///< of one of them, as drawn in the last frame
  Picture head;               ///< the large one
  float headCell = 8;         ///< pixels of its cell, as drawn in the last frame
  Magnified magnified;
  EasedTextures cache;
  std::shared_ptr<const ModelStudy> cacheOf;

  void show(const Scene& scene, const State& page);
  std::size_t bytes() const;

 private:
  void showRow(const Scene& scene, const View& view, const Layers& layers, std::size_t at, bool ease);
  void showHead(const Scene& scene, const View& view, const Layers& layers, bool ease);
  void showOverlay(const Scene& scene, const State& page, Index layer, Index head, Overlay& overlay);
  void showMagnified(const Scene& scene, const View& view, const Layers& layers);
};

}  // namespace headscope::app::model_page
