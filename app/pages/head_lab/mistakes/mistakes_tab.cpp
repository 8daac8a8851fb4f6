#include <fmt/core.h>

#include "app/kit/control_line.h"
#include "app/pages/head_lab/mistakes/mistake_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"

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
void MistakesTab::choices(Scene& scene, const ImRect& area, float left) {
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
  ControlLine line(view, ImRect(left, area.Min.y, area.Max.x, area.Max.y), ControlLine::From::right, 14);
  if (line.list("wrong.subject", subjects, chosen, "The layer the mistake is applied to."))
    shown.subject = static_cast<MistakeSubject>(chosen);
  if (instead) line.words(std::string(none, std::strlen(none) - 1) + ":");
  if (!page_.small) return;
  std::vector<Choice> names;
  for (const attention::MistakeInfo& info : attention::mistakes())
    names.push_back({std::string(info.title), "", std::string(info.key)});
  int at = static_cast<int>(shown.mistake);
  if (line.list("wrong.mistake", names, at, "The mistake (← and →)."))
    shown.mistake = static_cast<attention::Mistake>(at);
}

}  // namespace

std::unique_ptr<Tab> makeMistakesTab(PageServices& services, State& page) {
  return std::make_unique<MistakesTab>(services, page);
}

namespace {

std::string measureText(double value) {
  if (std::isnan(value)) return "NaN";
  if (value == std::round(value) && std::abs(value) < 1000) return fixedText(value, 0);
  return cellText(value);
}

using attention::SaturationPoint;

/// A plot of a quantity of the random layers, with and without the mistake.
struct Curve {
  const char* name;
  const char* title;
  double SaturationPoint::*wrong;
  double SaturationPoint::*right;
};
constexpr Curve kCurves[] = {
    {"wrong.curve", "LARGEST WEIGHT BY dₖ", &SaturationPoint::wrongLargest, &SaturationPoint::rightLargest},
    {"wrong.entropy", "ENTROPY BY dₖ", &SaturationPoint::wrongEntropy, &SaturationPoint::rightEntropy}};

/// `every`: labels one in this many dimensions, including the last.
Plot curvePlot(const State& page, const Curve& shown, Index chosen, std::size_t every) {
  const auto& points = *page.curve;
  const attention::MistakeInfo& info =
      attention::mistakes()[static_cast<std::size_t>(page.study->question.mistake)];
  Plot plot;
  plot.x = {static_cast<double>(points.front().headDim),
            static_cast<double>(points.back().headDim),
            true,
            {},
            "dₖ"};
  plot.y = {0, 1, false, {{0, "0"}, {0.5, "0.5"}, {1, "1"}}, ""};
  plot.lines = {{std::string(info.title), {}, Dash::solid, true, true}, {"÷√dₖ", {}, Dash::dashed}};
  for (const SaturationPoint& point : points) {
    const auto dim = static_cast<double>(point.headDim);
    const auto after = static_cast<std::size_t>(&points.back() - &point);
    plot.x.ticks.push_back({dim, after % every == 0 ? std::to_string(point.headDim) : ""});
    plot.lines[0].points.push_back({dim, point.*shown.wrong});
    plot.lines[1].points.push_back({dim, point.*shown.right});
    if (point.headDim == chosen)
      for (const double value : {point.*shown.right, point.*shown.wrong})
        plot.marks.push_back({{dim, value}, fixedText(value, 2), "", PlotSide::above, true});
  }
  plot.value = [](double value) { return fixedText(value, 2); };
  plot.place = [](double dim) { return fmt::format("dₖ {:.0f}", dim); };
  plot.labelRoom = 84;
  return plot;
}

/// Draws a quantity over dₖ with and without the mistake; dragging selects dₖ.
void curve(Scene& scene, State& page, const ImRect& area, const Curve& shown) {
  const View& view = page.view;
  HeadLabCursor& at = scene.cursor.lab;
  paintSpaced(*ImGui::GetWindowDrawList(), view.fonts->smallBold, ImVec2(area.Min.x, area.Min.y + view.px(8)),
              view.theme->faint, shown.title, view.px(0.6f));
  const Plot plot = curvePlot(page, shown, at.mistakeDim, area.GetWidth() < view.px(280) ? 2 : 1);
  drawPlot(view, shown.name, ImRect(area.Min.x, area.Min.y + view.px(28), area.Max.x, area.Max.y), plot);
  const auto cells = tracked(shown.name);
  if (!cells) return;
  hitArea(shown.name, *cells);
  if (!ImGui::IsItemActive()) return;
  const auto share = static_cast<double>((ImGui::GetIO().MousePos.x - cells->Min.x) / cells->GetWidth());
  const auto distance = [&](const SaturationPoint& point) {
    return std::abs(plot.x.share(static_cast<double>(point.headDim)) - share);
  };
  at.mistakeDim = std::ranges::min_element(*page.curve, {}, distance)->headDim;
  at.subject = MistakeSubject::random;
}

/// Draws both quantities one above the other; if only one fits, buttons select it.
void curves(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  ImRect plots(area.Min.x, area.Min.y, area.Max.x, area.Max.y - view.px(20));
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->small, ImVec2(area.Min.x, area.Max.y - view.px(8)), view.theme->secondary,
            fitted(view.fonts->small,
                   fmt::format("drag dₖ; mean of {} random layers, 12 tokens", kSaturationLayers),
                   area.GetWidth()));
  if (plots.GetHeight() >= view.px(320)) {
    const float middle = plots.GetCenter().y;
    curve(scene, page, ImRect(plots.Min.x, plots.Min.y, plots.Max.x, middle - view.px(8)), kCurves[0]);
    curve(scene, page, ImRect(plots.Min.x, middle + view.px(8), plots.Max.x, plots.Max.y), kCurves[1]);
    return;
  }
  const Choice choices[] = {{"Largest", "", "largest"}, {"Entropy", "", "entropy"}};
  int chosen = page.showsEntropy ? 1 : 0;
  ImGui::SetCursorScreenPos(plots.Min);
  ImGui::BeginChild("wrong.curves", ImVec2(std::min(plots.GetWidth(), view.px(180)), view.px(32)), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
  if (segmented(view, "wrong.shown", choices, chosen, "The quantity plotted against head dim."))
    page.showsEntropy = chosen == 1;
  compat::endChild();
  plots.Min.y += view.px(36);
  curve(scene, page, plots, kCurves[chosen]);
}

}  // namespace

float wrongMeasures(const State& page, const ImRect& area, float space) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = area.Min.y;
  for (const attention::MistakeMeasure& measure : page.study->result.measures) {
    y += paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), view.theme->secondary,
                        measure.name) +
         view.px(14);
    paintCross(view, list, ImVec2(area.Min.x + view.px(6), y), view.px(5));
    paintText(list, view.fonts->monoHero, ImVec2(area.Min.x + view.px(22), y), view.theme->text,
              measureText(measure.wrong));
    const float middle = area.Min.x + area.GetWidth() * 0.5f;
    paintTick(view, list, ImVec2(middle, y), view.px(6));
    paintText(list, view.fonts->monoHero, ImVec2(middle + view.px(18), y), view.theme->text,
              measureText(measure.right));
    y += space;
  }
  return y;
}

void wrongSide(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const MistakeStudy& study = *page.study;
  const attention::MistakeInfo& info =
      attention::mistakes()[static_cast<std::size_t>(study.question.mistake)];
  Canvas list = *ImGui::GetWindowDrawList();
  const bool small = area.GetHeight() < view.px(440);
  float y = area.Min.y + view.px(14);
  const auto heading = [&](const char* words) {
    paintSpaced(list, view.fonts->smallBold, ImVec2(area.Min.x, y), theme.faint, words, view.px(1));
    y += view.px(14);
  };
  heading("SYMPTOM");
  const std::string symptom =
      capitalized(study.result.symptom.empty() ? std::string(info.symptom) : study.result.symptom);
  y += paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), theme.text,
                      symptom + ".") +
       view.px(small ? 14 : 30);
  if (!study.result.measures.empty()) heading("HOW TO SPOT IT");
  y = wrongMeasures(page, ImRect(area.Min.x, y, area.Max.x, area.Max.y), view.px(small ? 22 : 34));
  if (study.omitsTerms && !study.result.clash) {
    y += paintParagraph(list, view.fonts->small, ImVec2(area.Min.x, y), area.GetWidth(), theme.secondary,
                        "Position biases and soft-cap are ignored here.") +
         view.px(10);
  }
  if (aboutScale(study.question.mistake) && page.curve && page.curve.request() == study.question.mistake)
    curves(scene, page,
           ImRect(area.Min.x, y + view.px(10), area.Max.x, std::min(area.Max.y, y + view.px(520))));
}

}  // namespace headscope::app::head_lab_page
