#pragma once

#include <atomic>

#include "app/compute/layer/cursor_fit.h"
#include "app/pages/common/page.h"
#include "app/pages/heads/heads_state.h"

namespace headscope::app::heads_page {

/// All heads of the layer, one head in detail, and its KV cache.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  bool showsStrip(const Scene& scene) const override;
  bool showsSide(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }
  State& state() { return page_; }
  /// Seconds that the last upload of pictures to the GPU took.
  double uploadSeconds() const { return uploadSeconds_; }

 private:
  void showPictures(const Scene& scene);
  void copyNumbers(const Scene& scene);
  const attention::Token* chosenToken(const Scene& scene, Index* at) const;
  void copyToken(const Scene& scene);
  void copyVectors(const Scene& scene, bool query);
  void decodeTo(Scene& scene);
  std::vector<Action> tokenActions();
  void advancePlay(Scene& scene);
  void nextNamed(Scene& scene);
  void walk(Scene& scene);
  enum class Decode { toggle, play, forward, back };
  void decode(Scene& scene, Decode what);
  std::vector<Action> fileActions();
  std::vector<Action> decodeActions();
  void openWeights(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  void openTable(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  double uploadSeconds_ = 0;
  /// The most recent band sizes. Shared with the worker, which may outlive the page and prepares the next
  /// bands in these sizes.
  struct Bands {
    std::atomic<Index> sequence = -1, dims = 0, tokens = 0;
  };
  const std::shared_ptr<Bands> bands_ = std::make_shared<Bands>();
  /// What the textures hold, so that they are refilled only when something else is shown.
  struct Shown {
    std::shared_ptr<const Snapshot> snapshot;
    Index sequence = -1;
    Quantity quantity = Quantity::weights;
    Index focus = -1;
    int gridFactor = 0, focusFactor = 0;
    CacheGrain cacheGrain = {};
    bool operator==(const Shown&) const = default;
  } shown_;
};

}  // namespace headscope::app::heads_page
