#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/model/layer_summary.h"
#include "app/compute/model/model_study.h"
#include "app/compute/model/pair_study.h"
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
  Picture head;               ///< the large head
  float headCell = 8;         ///< pixels per cell, as drawn in the last frame
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

/// The answers about one text or two, for panels to read.
struct PairState {
  std::shared_ptr<const PairStudy> pair;  ///< the newest; null before the first
  std::string problem;                    ///< why the current question has no answer
  double busySeconds = 0;

  /// A grid of patches, which may still be filling in.
  struct Grid {
    std::optional<PatchGridQuestion> question;
    PatchGrid grid;
    std::string problem;
    bool whole() const { return grid.done == grid.of; }
  };
  Grid heads, tokens;
  std::shared_ptr<const Answered<PatchSumQuestion, PatchSum>> sum;
  std::shared_ptr<const Answered<AttributionQuestion, AttributionStudy>> attribution;
  std::shared_ptr<const Answered<LensQuestion, LensMap>> lens;

  /// B under the scene's changes, and its heads aligned with A's, or B − A.
  std::shared_ptr<const ModelStudy> other;
  std::vector<std::shared_ptr<const LayerSummary>> compared;
  std::string comparedProblem;  ///< why A and B can't be compared

  Index tying = -1;      ///< the token of B that the user is aligning with one of A; −1: none
  Index pointedRow = 0;  ///< the grid row under the pointer
};

/// The model page's questions about one text or two.
class PairAnswers {
 public:
  PairAnswers(Workers& workers, Resources& resources);

  /// Asks for what the scene's view needs. `study` is A's; null while it isn't up to date.
  void ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study);
  /// Takes new answers. Returns whether there were any.
  bool take(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, PairState& state);
  /// Asks for the heads shown in place of A's, if the scene shows B or B − A. B is `recorded`, or text B if
  /// that is null.
  void askCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study,
                   const std::shared_ptr<const OpenModel>& recorded);
  void cancel();
  void forget();
  /// Sets the grid row under the pointer, which is computed first.
  void pointAt(Index row) { nearest_ = row; }

 private:
  /// A grid that is being computed. Written on the worker's thread.
  struct Arriving {
    std::mutex mutex;
    std::optional<PatchGridQuestion> question;
    PatchGrid grid;
    bool changed = false;
  };
  using GridAnswer = Answer<PatchGridQuestion, PatchGrid>;
  GridAnswer::Compute filling(Arriving& arriving);
  static bool takeGrid(const GridAnswer& answer, Arriving& arriving, PairState::Grid& grid);
  bool takeCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, PairState& state);

  /// The request for B's heads, or B − A, to show in place of A's.
  struct ComparedQuestion {
    std::shared_ptr<const ModelStudy> a, b;
    bool difference = false;
    std::vector<attention::TokenTie> ties;
    bool operator==(const ComparedQuestion&) const = default;
  };
  using Compared = std::vector<std::shared_ptr<const LayerSummary>>;

  Resources& resources_;
  std::atomic<Index> nearest_ = 0;
  ModelRunner runner_;
  Arriving arrivingHeads_, arrivingTokens_;
  Answer<PairQuestion, std::shared_ptr<const PairStudy>> pair_;
  Answer<ModelQuestion, ModelStudy> other_;
  Answer<ComparedQuestion, Compared> compared_;
  GridAnswer heads_, tokens_;
  Answer<PatchSumQuestion, PatchSum> sum_;
  Answer<AttributionQuestion, AttributionStudy> attribution_;
  Answer<LensQuestion, LensMap> lens_;
};

/// The head whose paths into the chosen piece are followed. Returns nothing if the whole piece is patched.
std::optional<PathStart> followedPath(const Scene& scene);
/// Whether the scene has a second text or, for recorded attention, a second recording.
bool comparesTwo(const Scene& scene);
/// Swaps the scene's text and B, with their answers, alignment and patching direction. Clears generated text.
void swapTexts(Scene& scene);

}  // namespace headscope::app::model_page
