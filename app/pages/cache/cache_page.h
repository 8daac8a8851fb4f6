#pragma once

#include "app/compute/layer/cursor_fit.h"
#include "app/pages/cache/cache_state.h"
#include "app/pages/common/page.h"

namespace headscope::app::cache_page {

/// The layer's KV cache, growing token by token, and what makes it smaller.
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
  bool showsSide(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;

  const State& state() const { return page_; }

 private:
  std::string viewCaption(const Scene& scene) const;
  void advancePlay(Scene& scene);
  void handleKeys(Scene& scene);
  /// Requests what the current view needs of the layer.
  void askView(const Scene& scene, const std::shared_ptr<const Snapshot>& snapshot);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  double speed_ = 2;  ///< steps per second, from the current scene
};

}  // namespace headscope::app::cache_page
