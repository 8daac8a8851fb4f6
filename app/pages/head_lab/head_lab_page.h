#pragma once

#include <memory>
#include <vector>

#include "app/compute/layer/cursor_fit.h"
#include "app/pages/common/page.h"
#include "app/pages/head_lab/head_lab_state.h"
#include "app/pages/head_lab/head_lab_tab.h"

namespace headscope::app::head_lab_page {

/// One head of a layer in detail: a page with inner tabs that all show the same head.
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
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;

  const State& state() const { return page_; }
  /// The inner tab of class T, for tests. Throws std::invalid_argument if there is none.
  template <class T>
  const T& tab() const {
    for (const auto& tab : tabs_)
      if (const auto* found = dynamic_cast<const T*>(tab.get())) return *found;
    throw std::invalid_argument("the page Lab has no such tab");
  }

 private:
  std::vector<Action> keyActions();
  Tab& shown(const Scene& scene) const;
  void askHead(const Scene& scene);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  std::vector<std::unique_ptr<Tab>> tabs_;  ///< in the order of tabTable()
};

}  // namespace headscope::app::head_lab_page
