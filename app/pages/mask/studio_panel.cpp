#include "app/pages/mask/mask_state.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

void tabChoice(Scene& scene, State& page, ImVec2 at) {
  View& view = page.view;
  ImGui::SetCursorScreenPos(at);
  ImGui::BeginChild(
      "tabs", ImVec2(view.px(220), view.px(34)), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (fieldChoice(view, scene, "cursor.studio.view")) page.brush.painting = false;
  compat::endChild();
}

/// Choices of what the compare tab shows, and how.
void compareBar(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  if (!scene.setup.mask.compare) return;
  static const std::vector<Choice> kWhat{{"Weights", "", "weights"}, {"Masks", "", "masks"}};
  static const std::vector<Choice> kHow{{"Side by side", "", "side"}, {"Wipe", "", "wipe"}};
  // If there is too little space for both, they share it.
  const float wanted = 432, room = area.GetWidth() / view.unit, share = std::min(1.0f, room / wanted);
  float x = area.Min.x;
  const auto choose = [&](const char* name, const std::vector<Choice>& choices, float units, bool& value) {
    ImGui::SetCursorScreenPos(ImVec2(x, area.Min.y));
    ImGui::BeginChild(
        name, ImVec2(view.px(units * share), view.px(34)), false,
        ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    int chosen = value ? 1 : 0;
    if (segmented(view, name, choices, chosen)) value = chosen == 1;
    compat::endChild();
    x += view.px((units + 12) * share);
  };
  bool masks = !page.compareWeights;
  choose("compare_what", kWhat, 200, masks);
  page.compareWeights = !masks;
  choose("compare_how", kHow, 220, page.wipe);
}

void message(const View& view, const ImRect& area, const std::string& title, const std::string& text) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at(area.GetCenter().x, area.Min.y + area.GetHeight() * 0.38f);
  paintText(list, view.fonts->title, at, view.theme->text, title, Align::center);
  paintText(list, view.fonts->text, ImVec2(at.x, at.y + view.px(28)), view.theme->secondary, text,
            Align::center);
}

/// Draws the tabs and the tools of the selected tab. Returns their height.
float toolBars(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const float bar = view.px(46), top = area.Min.y + view.px(12);
  tabChoice(scene, page, ImVec2(area.Min.x, top));
  const ImRect tools(area.Min.x + view.px(236), top, area.Max.x, top + view.px(34));
  if (scene.cursor.studio.tab == StudioTab::compare && scene.setup.mask.compare &&
      tools.GetWidth() < view.px(300)) {
    const float below = top + view.px(40);
    compareBar(scene, page, ImRect(area.Min.x, below, area.Max.x, below + view.px(34)));
    return bar + view.px(44);
  }
  if (scene.cursor.studio.tab == StudioTab::compare)
    compareBar(scene, page, tools);
  else
    brushBar(scene, page, tools);
  return bar + view.px(4);
}

void tabs(Scene& scene, const Snapshot* snapshot, State& page, ImRect area) {
  View& view = page.view;
  if (view.present)  // no painting while presenting
    page.brush.tool = PaintTool::look;
  else
    area.Min.y += toolBars(scene, page, area);
  if (const float height = marksStripHeight(scene, page); height > 0) {
    marksStrip(scene, page, ImRect(area.Min.x, area.Min.y, area.Max.x, area.Min.y + height));
    area.Min.y += height;
  }
  const float strip = view.present ? 0 : headStripHeight(scene, view, area.GetWidth());
  const ImRect maps(area.Min.x, area.Min.y + view.px(6), area.Max.x, area.Max.y - strip);
  switch (scene.cursor.studio.tab) {
    case StudioTab::mask:
      maskTab(scene, snapshot, page, maps);
      break;
    case StudioTab::biases:
      biasTab(scene, snapshot, page, maps);
      break;
    case StudioTab::compare:
      // While presenting without a second mask, show the only mask instead of an empty page.
      (view.present && !scene.setup.mask.compare ? maskTab : compareTab)(scene, snapshot, page, maps);
      break;
  }
  if (strip > 0)
    headStrip(scene, snapshot, page, ImRect(area.Min.x, area.Max.y - strip, area.Max.x, area.Max.y));
}

}  // namespace

void studioPanel(Scene& scene, const Snapshot* snapshot, State& page, const Layout& layout) {
  View& view = page.view;
  if (beginPanel(view, "studio", layout.center, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(20);
    const ImRect inner(layout.center.Min.x + pad, layout.center.Min.y, layout.center.Max.x - pad,
                       layout.center.Max.y - view.px(6));
    const MaskStudy* study = page.study;
    if (!study || (!study->line() && !snapshot))
      message(view, inner, "Computing…", "The first mask follows shortly.");
    else if (!study->line() && snapshot->error)
      message(view, inner, "Nothing to mask", snapshot->error->message);
    else if (!study->line())
      message(view, inner, "Nothing to mask yet", "Type a sentence on the left to mask its tokens.");
    else if (editedStudy(scene, page))
      tabs(scene, snapshot, page, inner);
  }
  endPanel();
}

}  // namespace headscope::app::mask_page
