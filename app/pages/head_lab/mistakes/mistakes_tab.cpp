#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "app/pages/head_lab/head_lab_tab.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

namespace {

class MistakesTab : public Tab {
 public:
  using Tab::Tab;

  void draw(Scene& scene, const ImRect& area, const Layout&) override { mistakesView(scene, page_, area); }

  void ask(const Scene& scene) override;
  void choices(Scene& scene, const ImRect& line, float left) override;

  bool move(Scene& scene, int by) override {
    const int last = static_cast<int>(attention::mistakes().size()) - 1;
    attention::Mistake& mistake = scene.cursor.lab.mistake;
    mistake = static_cast<attention::Mistake>(std::clamp(static_cast<int>(mistake) + by, 0, last));
    return true;
  }

  std::vector<CaptionPart> caption(const Scene& scene) const override {
    const auto at = static_cast<std::size_t>(scene.cursor.lab.mistake);
    return {{std::string(attention::mistakes()[at].caption), page_.view.theme->secondary}};
  }

  std::string shape() const override {
    if (!page_.study || page_.study->question.snapshot) return "";
    return fmt::format("random layer, seed {} · {} over {} KV · dₖ {} · causal", kDemonstrationSeed,
                       countedText(page_.study->heads, "head"), page_.study->kvHeads, page_.study->headDim);
  }
};

void MistakesTab::ask(const Scene& scene) {
  const std::shared_ptr<const Snapshot>& snapshot = services_.layer.snapshot();
  const HeadLabCursor& shown = scene.cursor.lab;
  MistakeQuestion question{shown.mistake, aboutScale(shown.mistake) ? shown.mistakeDim : 32, nullptr, 0, 0};
  if (shown.subject == MistakeSubject::layer && snapshot && !snapshot->sequences.empty()) {
    const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
    question.headDim = 0;
    question.snapshot = snapshot;
    question.sequence = std::clamp<Index>(scene.cursor.sequence, 0, last);
    question.head = std::clamp<Index>(scene.cursor.cell.head, 0, snapshot->config.heads - 1);
  }
  page_.study.ask(std::move(question), Lane::front);
  if (aboutScale(shown.mistake) && !page_.presents) page_.curve.ask(shown.mistake, Lane::back);
}

/// The choice of the layer for the mistake; in narrow windows, also the list of mistakes.
void MistakesTab::choices(Scene& scene, const ImRect& line, float) {
  View& view = page_.view;
  HeadLabCursor& shown = scene.cursor.lab;
  const Snapshot* snapshot = page_.snapshot.get();
  const bool computed = snapshot && !snapshot->sequences.empty();
  const char* none =
      snapshot && snapshot->empty && !snapshot->error ? "No text yet." : "This layer isn't computed yet.";
  const Choice subjects[] = {{"on a random layer", "", std::string(kMistakeSubjectNames[0])},
                             {"on this layer", computed ? "" : none, std::string(kMistakeSubjectNames[1])}};
  // Without numbers for this layer, the random layer is shown, whatever is selected.
  const bool instead = !computed && shown.subject == MistakeSubject::layer;
  int chosen = computed ? static_cast<int>(shown.subject) : 0;
  float x = line.Max.x - textWidth(view.fonts->text, subjects[chosen].label) - view.px(24);
  ImGui::SetCursorScreenPos(ImVec2(x, line.GetCenter().y - view.px(13)));
  if (dropdown(view, "wrong.subject", subjects, chosen, 0, "The layer the mistake is applied to."))
    shown.subject = static_cast<MistakeSubject>(chosen);
  if (instead) {
    const std::string why = std::string(none, std::strlen(none) - 1) + ":";
    x -= textWidth(view.fonts->text, why) + view.px(14);
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(x, line.GetCenter().y),
              view.theme->secondary, why);
  }
  if (!page_.small) return;
  std::vector<Choice> names;
  for (const attention::MistakeInfo& info : attention::mistakes())
    names.push_back({std::string(info.title), "", std::string(info.key)});
  int at = static_cast<int>(shown.mistake);
  x -= textWidth(view.fonts->text, names[static_cast<std::size_t>(at)].label) + view.px(40);
  ImGui::SetCursorScreenPos(ImVec2(x, line.GetCenter().y - view.px(13)));
  if (dropdown(view, "wrong.mistake", names, at, 0, "The mistake (← and →)."))
    shown.mistake = static_cast<attention::Mistake>(at);
}

}  // namespace

std::unique_ptr<Tab> makeMistakesTab(PageServices& services, State& page) {
  return std::make_unique<MistakesTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
