#include <fmt/core.h>

#include "app/pages/head_lab/head_lab_tab.h"

namespace headscope::app::head_lab_page {

namespace {

class WeightsTab : public Tab {
 public:
  WeightsTab(PageServices& services, State& page)
      : Tab(services, page),
        study_(services.workers, [](const std::shared_ptr<const HeadParts>& head, std::stop_token stop) {
          return attention::Result<std::shared_ptr<const WeightStudy>>(
              std::make_shared<const WeightStudy>(studyWeights(head, stop)));
        }) {}

  bool take(const Scene&) override {
    const auto study = study_.current();
    if (!study || !study->value || *study->value == page_.weights) return false;
    page_.weights = *study->value;
    return true;
  }

  void draw(Scene& scene, const ImRect& area, const Layout&) override {
    weightsView(scene, page_, area, page_.small);
  }

  void ask(const Scene&) override {
    if (page_.head) study_.ask(page_.head, Lane::front);
  }

  void leave() override {
    study_.forget();
    page_.weights.reset();
  }

  std::vector<CaptionPart> caption(const Scene&) const override {
    if (!page_.head) return {};
    return {{fmt::format("Head {}: what its queries look for, and what its output writes",
                         page_.head->question.head),
             page_.view.theme->secondary}};
  }

 private:
  Answer<std::shared_ptr<const HeadParts>, std::shared_ptr<const WeightStudy>> study_;
};

}  // namespace

std::unique_ptr<Tab> makeWeightsTab(PageServices& services, State& page) {
  return std::make_unique<WeightsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
