#include <fmt/core.h>

#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

namespace {

class PipelineTab : public Tab {
 public:
  using Tab::Tab;

  void prepare(Scene& scene) override {
    const double now = page_.view.time;
    if (!page_.playing || now - page_.playedAt < kPlayInterval) return;
    moveStep(scene, page_, 1);
    page_.playedAt = now;
    page_.playing = scene.cursor.lab.step != stepsOf(page_).back();
  }

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void drawMissing(Scene& scene, const ImRect& area, const Layout& layout) override;

  void ask(const Scene& scene) override {
    if (!page_.missing() || !page_.snapshot->error || page_.snapshot->error->waits)
      return page_.fault.forget();
    const Index last = page_.snapshot->config.heads - 1;
    page_.fault.ask(
        {page_.snapshot, scene.cursor.sequence, std::clamp<Index>(scene.cursor.cell.head, 0, last)},
        Lane::front);
  }
  std::vector<CaptionPart> caption(const Scene& scene) const override {
    return page_.head && !page_.missing() ? stepWords(scene, page_).sentence : std::vector<CaptionPart>{};
  }

 private:
  using Below = std::function<void(Board&)>;
  /// Draws the film with the parts that `below` adds below it.
  void withFilm(Scene& scene, const FilmReel& reel, const ImRect& area, const Below& below);
  void addStage(Scene& scene, Board& board);
  void addControls(const Scene& scene, Board& board);
};

/// The height of the film in layout units: with shapes and hints, without them, or a line of names.
float filmHeight(ImVec2 units) {
  if (units.x < 1100 || units.y < 520) return 44;
  return units.x < 1500 || units.y < 760 ? 150 : 282;
}

void PipelineTab::withFilm(Scene& scene, const FilmReel& reel, const ImRect& area, const Below& below) {
  View& view = page_.view;
  constexpr float kSide = 16, kEnd = 8;
  ImRect inside = area;
  inside.Expand(ImVec2(-view.px(kSide), -view.px(kEnd)));
  Board board(view, inside);
  board
      .picture("", {filmHeight(area.GetSize() / view.unit) - kEnd},
               [&](ImRect strip) {
                 // The film has no margins.
                 strip.Expand(ImVec2(view.px(kSide), view.px(kEnd)));
                 strip.Max.y -= view.px(kEnd);
                 film(scene, page_, reel, strip);
               })
      .leaves(1);
  below(board);
  board.show();
}

void PipelineTab::addStage(Scene& scene, Board& board) {
  board.picture("", {260, 300, 1}, [&](const ImRect& area) { stage(scene, page_, area); });
  if (scene.cursor.lab.step != Step::project) return;
  board
      .area("", {28},
            [&](const ImRect& area) {
              static const std::vector<Choice> kMaps{{"Q", "", "Q"}, {"K", "", "K"}, {"V", "", "V"}};
              ControlLine(page_.view, area)
                  .segments("lab.map", kMaps, scene.cursor.lab.map, 120, "The projection to show.", true);
            })
      .leaves(1);
}

void PipelineTab::addControls(const Scene& scene, Board& board) {
  const std::vector<Step> steps = stepsOf(page_);
  const auto at = static_cast<std::size_t>(std::ranges::find(steps, scene.cursor.lab.step) - steps.begin());
  const auto label = [&](std::size_t i) {
    return fmt::format("{}  {}", i + 1, steps[i] == Step::output ? "output" : stepTitle(page_, steps[i]));
  };
  const bool first = at == 0, last = at + 1 >= steps.size();
  board.controls(
      [this, first, last, before = first ? "←" : "←  " + label(at - 1),
       after = last ? "→" : label(at + 1) + "  →"](ControlLine& line) {
        View& view = page_.view;
        if (line.button("lab.previous", before, first ? "This is the first step." : ""))
          view.request("lab.previous");
        line.action("lab.play", page_.playing ? "Pause" : "Play", "lab.play");
        if (line.button("lab.next", after, last ? "This is the last step." : "")) view.request("lab.next");
        line.lastWords(firstFitting(
            view.fonts->small,
            {"← → step     ↑ ↓ query     Shift ← → key     PgUp PgDn head", "← → step   ↑ ↓ query"},
            line.room()));
      },
      12);
}

void PipelineTab::drawMissing(Scene& scene, const ImRect& area, const Layout& layout) {
  const bool known = page_.fault && page_.fault.request().snapshot == page_.snapshot;
  const LayerFault* fault = known ? page_.fault.get() : nullptr;
  const FilmReel reel = emptyReel(*page_.snapshot, fault);
  withFilm(scene, reel, area, [&](Board& board) {
    board.picture("", {200, 300, 1}, [&, fault](const ImRect& below) {
      Tab::drawMissing(scene, below, layout);
      if (!fault || fault->found.empty()) return;
      const View& view = page_.view;
      Canvas list = *ImGui::GetWindowDrawList();
      const std::string found = "found " + fault->found, expected = "   expected " + fault->expected;
      ImFont* font = view.fonts->monoTitle;
      ImVec2 at = below.GetCenter() - ImVec2(textWidth(font, found + expected) / 2, view.px(66));
      at.x += paintText(list, font, at, view.theme->error, found);
      paintText(list, font, at, view.theme->text, expected);
    });
  });
}

void PipelineTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  page_.hover = std::exchange(page_.nextHover, {});
  const FilmReel reel = headReel(scene, page_);
  withFilm(scene, reel, area, [&](Board& board) {
    const Step step = scene.cursor.lab.step;
    // Two maps side by side need more width than one.
    const bool pair =
        step == Step::scale || step == Step::bias || step == Step::mask || step == Step::softmax;
    const float wide = board.width(), least = 575;
    const float share = pair && wide < 900 ? 0.575f : wide < 1070 ? 0.455f : 0.355f;
    const PartWidth widths[] = {{least * share, share}, {least * (1 - share), 1 - share}};
    board
        .columns(widths, 32,
                 [&](std::size_t i, Board& column) {
                   if (i == 0) return addStage(scene, column);
                   addCalculation(scene, page_, column);
                   addControls(scene, column);
                 })
        .apart(10);
  });
}

}  // namespace

std::unique_ptr<Tab> makePipelineTab(PageServices& services, State& page) {
  return std::make_unique<PipelineTab>(services, page);
}

namespace {

/// Draws the numbers of heads from `at` to `right`, or how many more there are. A click selects one.
void groupHeads(Scene& scene, State& page, std::pair<Index, Index> heads, ImVec2 at, float right) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float half = view.px(12);
  const Index selected = selectedCell(scene, page).head;
  for (Index h = heads.first; h < heads.second; ++h) {
    const std::string text = std::to_string(h);
    const ImRect box(at.x, at.y - half, at.x + textWidth(view.fonts->mono, text) + view.px(16), at.y + half);
    if (box.Max.x + view.px(60) > right && h + 1 < heads.second) {
      paintText(list, view.fonts->text, at, theme.secondary, fmt::format("+ {}", heads.second - h));
      return;
    }
    if (hitArea(fmt::format("group.{}", h), box)) scene.cursor.cell.head = h;
    const bool lit = h == selected;
    if (lit || ImGui::IsItemHovered())
      list.AddRectFilled(
          box.Min, box.Max,
          lit ? mixed(theme.background, theme.query, theme.light ? 0.1f : 0.18f) : theme.raised, view.px(4));
    paintText(list, view.fonts->mono, box.GetCenter(), lit ? theme.query : theme.secondary, text,
              Align::center);
    at.x = box.Max.x + view.px(4);
  }
}

}  // namespace

void groupTable(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = page.layer->config();
  const Cell cell = selectedCell(scene, page);
  const Index kv = config.kvHeadOf(cell.head), group = config.groupSize();
  paintText(list, view.fonts->monoTitle, ImVec2(area.Min.x, area.Min.y + view.px(14)), theme.text,
            group == 1 ? fmt::format("head {} reads K{}, V{}", cell.head, cell.head, cell.head)
                       : fmt::format("⌊{} ÷ {}⌋ = {}: head {} reads K and V of KV {}", cell.head, group, kv,
                                     cell.head, kv));
  const float line = view.px(30), top = area.Min.y + view.px(44);
  const auto middle = [&](Index at) {
    return ImVec2(area.Min.x, top + line * (static_cast<float>(at) + 0.5f));
  };
  const auto room = std::max<Index>(1, static_cast<Index>((area.Max.y - top) / line));
  const Index shown = std::min(config.kvHeads, room - (config.kvHeads > room ? 1 : 0));
  const Index first = std::clamp<Index>(kv - shown / 2, 0, config.kvHeads - std::max<Index>(shown, 1));
  for (Index i = 0; i < shown; ++i) {
    const Index g = first + i;
    ImVec2 at = middle(i);
    at.x += paintBadge(view, list, at, groupColor(theme, g), fmt::format("KV {}", g)) + view.px(14);
    groupHeads(scene, page, {g * group, (g + 1) * group}, at, area.Max.x);
  }
  if (shown < config.kvHeads)
    paintText(list, view.fonts->text, middle(shown), theme.secondary,
              "and " + countedText(config.kvHeads - shown, "more kv head"));
}

}  // namespace headscope::app::head_lab_page
