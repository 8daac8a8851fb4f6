#include "app/labs/map/map_screen.h"
#include "app/scene/number_text.h"
#include "app/shell/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/track.h"

namespace headscope::app {

namespace {

/// "label value" with the value in the number face; returns the x after it.
float figure(const View& view, ImDrawList& list, float x, float y, const std::string& label,
             const std::string& value) {
  x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->secondary, label) + view.px(5);
  return x + paintText(list, view.fonts->monoSmall, ImVec2(x, y), view.theme->text, value) + view.px(22);
}

std::string shapeSummary(const Scene& scene, const Snapshot* snapshot) {
  const ModelSetup& model = scene.setup.model;
  static constexpr std::array kNames{"MHA", "GQA", "MQA"};
  std::string text = std::string(kNames[static_cast<std::size_t>(kindOf(model))]) + " " +
                     std::to_string(model.heads) + "/" + std::to_string(model.kvHeads) + " · d " +
                     std::to_string(model.modelDim);
  if (scene.setup.input.cross)
    text += " · cross";
  else if (snapshot && snapshot->causal)
    text += " · causal";
  return text;
}

}  // namespace

namespace {

/// What the heads page or the mask studio is made of, and what it takes.
void snapshotFigures(const Snapshot* snapshot, View& view, ImDrawList& list, float x, float y, float end) {
  if (snapshot && view.showTimings) x = figure(view, list, x, y, "compute", timeText(snapshot->seconds));
  if (snapshot) x = figure(view, list, x, y, "matrices", bytesText(static_cast<double>(snapshot->bytes)));
  if (view.showTimings && end - x > view.px(420))  // of this machine, like the timings
    x = figure(view, list, x, y, "of", bytesText(static_cast<double>(view.memoryLimit)));
  if (end - x > view.px(330))
    x = figure(view, list, x, y, "textures", bytesText(static_cast<double>(view.gpuBytes)));
  if (end - x > view.px(240) && view.drawSeconds > 0)
    x = figure(view, list, x, y, "frame", timeText(view.drawSeconds));
  if (end - x > view.px(160)) x = figure(view, list, x, y, "undo", std::to_string(view.undoSteps));
  if (view.busySeconds > 0.5) {
    x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->warning,
                   "computing for " + timeText(view.busySeconds)) +
         view.px(10);
    track("catching_up", ImVec2(x - view.px(10), y - view.px(8)), ImVec2(x, y + view.px(8)));
    ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(14)));
    if (button(view, "stop", "Stop", snapshot ? "" : "Nothing has been computed yet to go back to", true))
      view.request(Action::stopComputing);
  }
}

/// The same of the map.
void mapFigures(View& view, ImDrawList& list, float x, float y, float end) {
  const MapScreen& screen = *view.map;
  if (screen.state && !screen.state->empty)
    x = figure(view, list, x, y, "held", bytesText(static_cast<double>(screen.state->bytes)));
  x = figure(view, list, x, y, "tiles",
             bytesText(static_cast<double>(screen.cache->bytes())) + " of " +
                 bytesText(static_cast<double>(screen.cache->budget())));
  if (end - x > view.px(330))
    x = figure(view, list, x, y, "textures", bytesText(static_cast<double>(view.gpuBytes)));
  if (end - x > view.px(240) && view.drawSeconds > 0)
    x = figure(view, list, x, y, "frame", timeText(view.drawSeconds));
  if (end - x > view.px(160)) x = figure(view, list, x, y, "undo", std::to_string(view.undoSteps));
  if (screen.progress.seconds <= 0.5) return;
  const std::string what = screen.progress.building || screen.progress.overview >= 1
                               ? "mapping for " + timeText(screen.progress.seconds)
                               : "exact overview " + percentText(screen.progress.overview);
  const float wide = paintText(list, view.fonts->small, ImVec2(x, y), view.theme->warning, what);
  track("map.progress", ImVec2(x, y - view.px(8)), ImVec2(x + wide, y + view.px(8)));
}

}  // namespace

void statusLine(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout) {
  const Theme& theme = *view.theme;
  ImDrawList& back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.status.Min, layout.status.Max, theme.panel);
  back.AddLine(layout.status.Min, ImVec2(layout.status.Max.x, layout.status.Min.y), theme.line);
  if (beginPanel(view, "status", layout.status, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float y = layout.status.GetCenter().y;
    const float right = layout.status.Max.x - view.px(20);
    // A file's queries and keys are no layer of the scene's model.
    const bool file = scene.cursor.page == Page::map && scene.map.source == MapSource::file;
    const std::string shape = file ? "Q and K from a file" : shapeSummary(scene, snapshot);
    paintText(list, view.fonts->small, ImVec2(right, y), theme.secondary, shape, Align::right);
    const float end = right - textWidth(view.fonts->small, shape) - view.px(24);
    float x = view.px(20);
    if (!view.error.empty()) {
      list.AddRectFilled(ImVec2(x, y - view.px(8)), ImVec2(x + view.px(3), y + view.px(8)), theme.error);
      paintFitted(view, list, view.fonts->small, ImVec2(x + view.px(10), y), end - x - view.px(40),
                  theme.error, view.error);
      track("error", ImVec2(x, y - view.px(8)), ImVec2(end, y + view.px(8)));
    } else if (!view.notice.empty()) {
      paintFitted(view, list, view.fonts->small, ImVec2(x, y), end - x, theme.text, view.notice);
      track("notice", ImVec2(x, y - view.px(8)), ImVec2(end, y + view.px(8)));
    } else if (scene.cursor.page == Page::map) {
      mapFigures(view, list, x, y, end);
    } else {
      snapshotFigures(snapshot, view, list, x, y, end);
    }
  }
  endPanel();
}

}  // namespace headscope::app
