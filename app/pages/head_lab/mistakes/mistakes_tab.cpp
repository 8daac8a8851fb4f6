#include <fmt/core.h>

#include "app/pages/head_lab/mistakes/mistake_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"

namespace headscope::app::head_lab_page {

namespace {

constexpr float kListWidth = 372, kListRoom = 1400;  ///< of the page with it; in layout units

class MistakesTab : public Tab {
 public:
  using Tab::Tab;

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void choices(Scene& scene, const ImRect& line, float left) override;

  void move(Scene& scene, int by) override {
    const int last = static_cast<int>(attention::mistakes().size()) - 1;
    attention::Mistake& mistake = scene.cursor.lab.mistake;
    mistake = static_cast<attention::Mistake>(std::clamp(static_cast<int>(mistake) + by, 0, last));
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

 private:
  /// Whether there is a list of all mistakes left of the one shown, as the tab line decides in each frame; a
  /// poster has neither.
  bool lists_ = false;
};

void MistakesTab::draw(Scene& scene, const ImRect& area, const Layout& layout) {
  View& view = page_.view;
  ImRect rest = area;
  if (std::exchange(lists_, false)) {
    rest.Min.x += view.px(kListWidth);
    mistakeList(scene, page_, ImRect(area.Min, rest.GetBL()));
  }
  if (!page_.study) return;
  const attention::MistakeInfo& info = infoOf(page_.study->question.mistake);
  Board board(view, page_.inset(rest), layout.named);
  board.title(std::string(info.title)).atEnd(190, [&](const ImRect& end) {
    paintLegendLine(view, *ImGui::GetWindowDrawList(), ImVec2(end.Max.x, end.GetCenter().y), end.GetWidth(),
                    {"weight", scene.look.colormap, {"0", "", "1"}});
  });
  board.paragraph(view.fonts->text, std::string(info.sentence)).apart(2).inWindow();
  constexpr PartWidth kWidths[] = {{320, 0.72f}, {170, 0.28f}};
  board.columns(kWidths, 32, [&](std::size_t i, Board& part) {
    if (i == 0)
      part.picture("", {270, 400, 1}, [this, &scene](const ImRect& maps) { wrongMaps(scene, page_, maps); });
    else
      wrongSide(scene, page_, part);
  });
  board.picture("wrong.fix", {40, 64}, [this](const ImRect& line) { fixLine(page_, line); });
  board.show();
}

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
  if (aboutScale(shown.mistake)) page_.curve.ask(shown.mistake, Lane::back);
}

/// The choice of the layer for the mistake, and of the mistake if there is no list of them.
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
  lists_ = area.GetWidth() >= view.px(kListRoom);
  if (lists_) return;
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
  const attention::MistakeInfo& info = infoOf(page.study->question.mistake);
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
  drawPlot(view, shown.name, ImRect(area.Min + ImVec2(0, view.px(28)), area.Max), plot);
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
  const auto band = [&](float from, float to) {
    return ImRect(ImVec2(area.Min.x, from), ImVec2(area.Max.x, to));
  };
  const float foot = area.Max.y - view.px(20), middle = (area.Min.y + foot) / 2, apart = view.px(8);
  paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->small, area.GetBL() - ImVec2(0, apart),
              area.GetWidth(), view.theme->secondary,
              fmt::format("drag dₖ; mean of {} random layers, 12 tokens", kSaturationLayers));
  if (area.GetHeight() >= view.px(340)) {
    curve(scene, page, band(area.Min.y, middle - apart), kCurves[0]);
    curve(scene, page, band(middle + apart, foot), kCurves[1]);
    return;
  }
  const Choice choices[] = {{"Largest", "", "largest"}, {"Entropy", "", "entropy"}};
  ControlLine line(view, band(area.Min.y, area.Min.y + view.px(28)));
  line.segments("wrong.shown", choices, page.showsEntropy, 180, "The quantity plotted against head dim.");
  curve(scene, page, band(area.Min.y + view.px(36), foot), kCurves[page.showsEntropy ? 1 : 0]);
}

void heading(Board& board, const char* words) {
  const View& view = board.view();
  board.area("", {16}, [&view, words](const ImRect& area) {
    paintSpaced(*ImGui::GetWindowDrawList(), view.fonts->smallBold, ImVec2(area.Min.x, area.GetCenter().y),
                view.theme->faint, words, view.px(1));
  });
  board.leaves(2);
}

/// Adds a number that reveals the mistake: its name, and its value with and without it.
void measured(Board& board, const attention::MistakeMeasure& measure) {
  const View& view = board.view();
  board.paragraph(view.fonts->text, measure.name);
  board.area("", {28}, [&view, &measure](const ImRect& area) {
    Canvas list = *ImGui::GetWindowDrawList();
    const ImVec2 wrong(area.Min.x, area.GetCenter().y), right(area.GetCenter());
    paintCross(view, list, wrong + ImVec2(view.px(6), 0), view.px(5));
    paintText(list, view.fonts->monoHero, wrong + ImVec2(view.px(22), 0), view.theme->text,
              measureText(measure.wrong));
    paintTick(view, list, right, view.px(6));
    paintText(list, view.fonts->monoHero, right + ImVec2(view.px(18), 0), view.theme->text,
              measureText(measure.right));
  });
  board.apart(2);
}

}  // namespace

void wrongSide(Scene& scene, State& page, Board& board) {
  const Fonts& fonts = *board.view().fonts;
  const MistakeStudy& study = *page.study;
  const attention::MistakeResult& result = study.result;
  heading(board, "SYMPTOM");
  const std::string symptom =
      result.symptom.empty() ? std::string(infoOf(study.question.mistake).symptom) : result.symptom;
  board.paragraph(fonts.text, capitalized(symptom) + ".", {"", board.theme().text}).apart(2).leaves(2);
  if (!result.same.empty()) board.paragraph(fonts.text, "No difference here: " + result.same + ".");
  if (!result.same.empty() && study.question.snapshot)
    board.controls([&scene](ControlLine& line) {
      if (line.button("wrong.show", "Show on a random layer"))
        scene.cursor.lab.subject = MistakeSubject::random;
    });
  if (!result.measures.empty()) heading(board, "HOW TO SPOT IT");
  for (const attention::MistakeMeasure& measure : result.measures) measured(board, measure);
  if (study.omitsTerms && !result.clash)
    board.paragraph(fonts.small, "Position biases and soft-cap are ignored here.").leaves(1);
  if (aboutScale(study.question.mistake) && page.curve && page.curve.request() == study.question.mistake)
    board.picture("", {150, 420, 1, 520}, [&scene, &page](const ImRect& area) { curves(scene, page, area); })
        .leaves(1);
}

}  // namespace headscope::app::head_lab_page
