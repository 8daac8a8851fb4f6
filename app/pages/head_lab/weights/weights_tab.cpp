#include <fmt/core.h>

#include "app/pages/head_lab/head_lab_tab.h"

namespace headscope::app::head_lab_page {

namespace {

class WeightsTab : public Tab {
 public:
  using Tab::Tab;

  void draw(Scene& scene, const ImRect& area, const Layout&) override {
    weightsView(scene, page_, area, page_.small);
  }

  void ask(const Scene&) override {
    if (page_.head) page_.weights.ask(page_.head.shared(), Lane::front);
  }

  std::vector<CaptionPart> caption(const Scene&) const override {
    if (!page_.head) return {};
    return {{fmt::format("Head {}: what its queries look for, and what its output writes",
                         page_.head->question.head),
             page_.view.theme->secondary}};
  }
};

}  // namespace

std::unique_ptr<Tab> makeWeightsTab(PageServices& services, State& page) {
  return std::make_unique<WeightsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
