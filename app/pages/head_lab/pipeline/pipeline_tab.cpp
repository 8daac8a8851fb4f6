#include <fmt/core.h>

#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
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
  /// Draws the film, or dots if there is little space. Returns the area below it.
  ImRect filmAbove(Scene& scene, const FilmReel& reel, const ImRect& area, const Layout& layout);
  void controls(const Scene& scene, const ImRect& area);
  void mapChoice(Scene& scene, const ImRect& area);
};

void PipelineTab::controls(const Scene& scene, const ImRect& area) {
  View& view = page_.view;
  const std::vector<Step> steps = stepsOf(page_);
  const auto at = std::find(steps.begin(), steps.end(), scene.cursor.lab.step) - steps.begin();
  const auto last = static_cast<std::ptrdiff_t>(steps.size()) - 1;
  const auto label = [&](std::ptrdiff_t i) {
    const Step step = steps[static_cast<std::size_t>(i)];
    return fmt::format("{}  {}", i + 1, step == Step::output ? "output" : stepTitle(page_, step));
  };
  ImGui::SetCursorScreenPos(area.Min);
  if (button(view, "lab.previous", at > 0 ? "←  " + label(at - 1) : "←",
             at > 0 ? "" : "This is the first step."))
    view.request("lab.previous");
  ImGui::SameLine(0, view.px(12));
  if (button(view, "lab.play", page_.playing ? "Pause" : "Play")) view.request("lab.play");
  ImGui::SameLine(0, view.px(12));
  if (button(view, "lab.next", at < last ? label(at + 1) + "  →" : "→",
             at < last ? "" : "This is the last step."))
    view.request("lab.next");
  const float used = ImGui::GetItemRectMax().x;
  Canvas list = *ImGui::GetWindowDrawList();
  for (const char* keys :
       {"← → step     ↑ ↓ query     Shift ← → key     PgUp PgDn head", "← → step   ↑ ↓ query", ""})
    if (textWidth(view.fonts->small, keys) < area.Max.x - used - view.px(24)) {
      paintText(list, view.fonts->small, ImVec2(area.Max.x, area.Min.y + view.px(14)), view.theme->secondary,
                keys, Align::right);
      break;
    }
}

/// A choice of Q, K or V for the projection step, at the bottom right of `area`.
void PipelineTab::mapChoice(Scene& scene, const ImRect& area) {
  View& view = page_.view;
  static constexpr const char* kNames[] = {"Q", "K", "V"};
  std::vector<Choice> choices;
  for (const char* name : kNames) choices.push_back({name, "", name});
  int chosen = static_cast<int>(scene.cursor.lab.map);
  ImGui::SetCursorScreenPos(ImVec2(area.Max.x - view.px(120), area.Max.y - view.px(30)));
  ImGui::BeginChild("lab.maps", ImVec2(view.px(120), view.px(32)), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
  if (segmented(view, "lab.map", choices, chosen, "The projection to show."))
    scene.cursor.lab.map = static_cast<MapShown>(chosen);
  compat::endChild();
}

ImRect PipelineTab::filmAbove(Scene& scene, const FilmReel& reel, const ImRect& area, const Layout& layout) {
  const View& view = page_.view;
  const float unitsHigh = area.GetHeight() / view.unit, unitsWide = area.GetWidth() / view.unit;
  const bool folds = layout.presents || unitsWide < 1100 || unitsHigh < 520;
  const bool small = layout.narrow || unitsHigh < 760;
  const float high = view.px(folds ? 44 : small ? 150 : 282);
  const ImRect strip(area.Min.x, area.Min.y, area.Max.x, area.Min.y + high);
  folds ? foldedFilm(scene, page_, reel, strip) : film(scene, page_, reel, strip, small);
  return ImRect(area.Min.x, strip.Max.y, area.Max.x, area.Max.y);
}

void PipelineTab::drawMissing(Scene& scene, const ImRect& area, const Layout& layout) {
  View& view = page_.view;
  const bool known = page_.fault && page_.fault.request().snapshot == page_.snapshot;
  const LayerFault* fault = known ? page_.fault.get() : nullptr;
  const ImRect below = filmAbove(scene, emptyReel(*page_.snapshot, fault), area, layout);
  Tab::drawMissing(scene, below, layout);
  if (!fault || fault->found.empty()) return;
  const float y = below.GetCenter().y - view.px(66);
  Canvas list = *ImGui::GetWindowDrawList();
  const std::string found = "found " + fault->found, expected = "   expected " + fault->expected;
  ImFont* font = view.fonts->monoTitle;
  const float left = below.GetCenter().x - textWidth(font, found + expected) / 2;
  const float used = paintText(list, font, ImVec2(left, y), view.theme->error, found);
  paintText(list, font, ImVec2(left + used, y), view.theme->text, expected);
}

void PipelineTab::draw(Scene& scene, const ImRect& area, const Layout& layout) {
  View& view = page_.view;
  page_.hover = std::exchange(page_.nextHover, {});
  const float unitsHigh = area.GetHeight() / view.unit, unitsWide = area.GetWidth() / view.unit;
  // Next to presented text there is only space for the product.
  if (layout.presents && unitsWide < 640) {
    ImRect alone = area;
    alone.Expand(ImVec2(-view.px(20), -view.px(14)));
    return stage(scene, page_, alone);
  }
  const bool small = layout.narrow || layout.presents || unitsHigh < 760;
  const ImRect below = filmAbove(scene, headReel(scene, page_), area, layout);
  const float margin = view.px(small ? 16 : 24), top = below.Min.y + view.px(small ? 10 : 18);
  const float bottom = area.Max.y - view.px(small ? 10 : 16);
  // While presenting, two maps side by side need more width than one.
  const Step step = scene.cursor.lab.step;
  const bool pair = step == Step::scale || step == Step::bias || step == Step::mask || step == Step::softmax;
  const float share = layout.presents && pair ? 0.57f : unitsWide < 1100 ? 0.46f : 0.365f;
  const float split = std::round(area.Min.x + area.GetWidth() * share);
  ImRect left(area.Min.x + margin, top, split - margin, bottom);
  if (scene.cursor.lab.step == Step::project) {
    mapChoice(scene, left);
    left.Max.y -= view.px(24);
  }
  stage(scene, page_, left);
  const float buttons = view.px(layout.presents ? 0 : 40);
  calculationView(
      scene, page_,
      ImRect(split + margin, top, area.Max.x - margin, bottom - buttons - view.px(small ? 2 : 12)));
  if (!layout.presents)
    controls(scene, ImRect(split + margin, bottom - view.px(30), area.Max.x - margin, bottom));
}

}  // namespace

std::unique_ptr<Tab> makePipelineTab(PageServices& services, State& page) {
  return std::make_unique<PipelineTab>(services, page);
}

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
  const auto room = std::max<Index>(1, static_cast<Index>((area.Max.y - top) / line));
  const Index shown = std::min(config.kvHeads, room - (config.kvHeads > room ? 1 : 0));
  const Index first = std::clamp<Index>(kv - shown / 2, 0, config.kvHeads - std::max<Index>(shown, 1));
  for (Index i = 0; i < shown; ++i) {
    const Index g = first + i;
    const float y = top + line * (static_cast<float>(i) + 0.5f);
    float x = area.Min.x +
              paintBadge(view, list, ImVec2(area.Min.x, y), groupColor(theme, g), fmt::format("KV {}", g)) +
              view.px(14);
    for (Index h = g * group; h < (g + 1) * group; ++h) {
      const std::string text = std::to_string(h);
      const float wide = textWidth(view.fonts->mono, text) + view.px(16);
      if (x + wide + view.px(60) > area.Max.x && h + 1 < (g + 1) * group) {
        paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary,
                  fmt::format("+ {}", (g + 1) * group - h));
        break;
      }
      if (hitArea(fmt::format("group.{}", h), ImVec2(x, y - view.px(12)), ImVec2(wide, view.px(24))))
        scene.cursor.cell.head = h;
      const bool lit = h == cell.head;
      if (lit || ImGui::IsItemHovered())
        list.AddRectFilled(
            ImVec2(x, y - view.px(12)), ImVec2(x + wide, y + view.px(12)),
            lit ? mixed(theme.background, theme.query, theme.light ? 0.1f : 0.18f) : theme.raised,
            view.px(4));
      paintText(list, view.fonts->mono, ImVec2(x + wide / 2, y), lit ? theme.query : theme.secondary, text,
                Align::center);
      x += wide + view.px(4);
    }
  }
  if (shown < config.kvHeads)
    paintText(list, view.fonts->text, ImVec2(area.Min.x, top + line * (static_cast<float>(shown) + 0.5f)),
              theme.secondary, "and " + countedText(config.kvHeads - shown, "more kv head"));
}

}  // namespace headscope::app::head_lab_page
