#pragma once

#include "app/compute/heads/head_count_study.h"
#include "app/pages/head_lab/head_lab_tab.h"

namespace headscope::app::head_lab_page {

/// Compares one wide head with several small ones that have the same number of parameters: patterns and rank.
class HeadCountTab : public Tab {
 public:
  HeadCountTab(PageServices& services, State& page);

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void choices(Scene& scene, const ImRect& line, float left) override;
  bool move(Scene& scene, int by) override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  std::string shape() const override;

  const HeadCountStudy* study() const { return study_.get(); }

 private:
  void side(const Scene& scene, const ImRect& area, const HeadCountSide& shown, const char* name);

  Shown<HeadCountQuestion, HeadCountStudy> study_;
};

}  // namespace headscope::app::head_lab_page
