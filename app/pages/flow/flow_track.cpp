#include <fmt/core.h>

#include "app/kit/control_line.h"
#include "app/pages/flow/flow_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::flow_page {

namespace {

/// The matrix that stands for a stage on the track.
const StagePicture& emblem(const Shot& shot, Step step) {
  const auto of = [&](Stage stage) -> const StagePicture& { return shot.film.picture(stage); };
  switch (step) {
    case Step::input:
      return of(Stage::x);
    case Step::project:
      return of(Stage::q);
    case Step::split:
      return shot.film.q;
    case Step::bias:
      return of(Stage::biased);
    case Step::mask:
      return of(Stage::scores);
    case Step::softmax:
      return of(Stage::weights);
    case Step::mix:
      return of(Stage::headOutput);
    case Step::concat:
      return of(Stage::concat);
    case Step::output:
      return of(Stage::output);
    default:
      return of(Stage::dots);
  }
}

Ink inkOf(Step step) {
  if (step == Step::input || step == Step::output) return Ink::stream;
  if (step == Step::project || step == Step::split) return Ink::query;
  return step >= Step::mix ? Ink::value : Ink::map;
}

std::string shortTitle(const Shot& shot, Step step) {
  return step == Step::split ? "split" : stepTitle(shot.config, shot.sequence.mask, step);
}

void thumbnail(State& page, const Shot& shot, Step step, const ImRect& box, bool reached) {
  const StagePicture& picture = emblem(shot, step);
  const float most = largestOf(picture);
  const Ink ink = inkOf(step);
  const bool map = ink == Ink::map;
  paintPicture(page.view, page.textures,
               {fmt::format("flow.emblem.{}", static_cast<int>(step)), ink, map ? picture.low : -most,
                map ? picture.high : most, reached ? 1.0f : 0.4f},
               picture.values, box, shot.look);
}

}  // namespace

void flowTrack(Scene& scene, State& page, const Shot& shot, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Fonts& fonts = *view.fonts;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto count = static_cast<float>(shot.steps.size());
  const float gap = view.px(6), each = area.GetWidth() / count, bar = area.Max.y - view.px(8);
  const bool large = area.GetHeight() >= view.px(64) && each >= view.px(104);
  hitArea("flow.track", area);
  if (ImGui::IsItemActive()) {  // a press jumps there, and a drag scrubs
    const float place = std::clamp((ImGui::GetIO().MousePos.x - area.Min.x) / each, 0.0f, count - 0.001f);
    const auto stage = static_cast<std::size_t>(place);
    const double wide = static_cast<double>((each - gap) / each);
    scene.cursor.flow = {shot.steps[stage],
                         std::min(1.0, (static_cast<double>(place) - static_cast<double>(stage)) / wide)};
    page.playing = false;
  }
  for (std::size_t i = 0; i < shot.steps.size(); ++i) {
    const Step step = shot.steps[i];
    const float left = area.Min.x + each * static_cast<float>(i), right = left + each - gap;
    const bool now = step == shot.at.stage, reached = step <= shot.at.stage;
    track(fmt::format("flow.stage.{}", i + 1), ImVec2(left, area.Min.y), ImVec2(right, area.Max.y));
    if (now && large)
      list.AddRectFilled(ImVec2(left, area.Min.y), ImVec2(right, bar + view.px(6)), theme.raised, view.px(4));
    const std::uint32_t color = now ? theme.text : reached ? theme.secondary : theme.faint;
    ImFont* const font = now ? fonts.bold : fonts.text;
    if (large) {
      const float side = area.GetHeight() - view.px(30);
      thumbnail(page, shot, step,
                ImRect(left + view.px(8), area.Min.y + view.px(7), left + view.px(8) + side,
                       area.Min.y + view.px(7) + side),
                reached);
      const float x = left + side + view.px(16);
      paintText(list, fonts.small, ImVec2(x, area.Min.y + view.px(17)), theme.faint, std::to_string(i + 1));
      paintScripted(view, list, font, ImVec2(x, area.Min.y + view.px(36)), color, shortTitle(shot, step),
                    Align::left, right - x - view.px(4));
    } else {
      const std::string title = shortTitle(shot, step);
      ImFont* const fits = scriptedWidth(view, font, title) <= each - gap ? font : fonts.small;
      if (now || scriptedWidth(view, fits, title) <= each - gap)
        paintScripted(view, list, fits, ImVec2(left, bar - view.px(16)), color, title, Align::left,
                      each - view.px(2));
      else
        paintText(list, fits, ImVec2(left, bar - view.px(16)), color, std::to_string(i + 1));
    }
    const float high = view.px(1.5f);
    list.AddRectFilled(ImVec2(left, bar - high), ImVec2(right, bar + high), theme.line);
    const float done = left + (right - left) * static_cast<float>(shot.into(step));
    if (reached)
      list.AddRectFilled(ImVec2(left, bar - high), ImVec2(done, bar + high),
                         now ? theme.text : theme.secondary);
    if (!now) continue;
    for (const FlowBeat& beat : flowStage(step).beats)
      if (beat.end < 1) {
        const float x = left + (right - left) * static_cast<float>(beat.end);
        list.AddLine(ImVec2(x, bar - view.px(4)), ImVec2(x, bar + view.px(4)), theme.secondary);
      }
    list.AddCircleFilled(ImVec2(done, bar), view.px(6), theme.text);
    list.AddCircleFilled(ImVec2(done, bar), view.px(2.5f), theme.background);
  }
}

void flowControls(Scene& scene, State& page, const Shot& shot, const ImRect& area) {
  View& view = page.view;
  ControlLine line(view, area, ControlLine::From::left, 12);
  const bool atStart = shot.at == FlowCursor{shot.steps.front(), 0},
             atEnd = shot.at == FlowCursor{shot.steps.back(), 1};
  if (line.button("flow.previous", "←", atStart ? "This is the beginning." : ""))
    view.request("flow.previous");
  line.action("flow.play", page.playing ? "Pause" : "Play", "flow.play");
  if (line.button("flow.next", "→", atEnd ? "This is the end." : "")) view.request("flow.next");
  const auto beats = flowStage(shot.at.stage).beats;
  const std::size_t now = beatOf(shot.at);
  for (std::size_t i = 0; i < beats.size(); ++i) {
    const double start = beatStart(shot.at.stage, i);
    const float wide = std::max(textWidth(view.fonts->text, beats[i].name) / view.unit + 4,
                                static_cast<float>(beats[i].end - start) * 260);
    if (line.room() < view.px(wide)) break;
    line.part(fmt::format("flow.beat.{}", i), wide, [&] {
      const ImRect box(ImGui::GetCursorScreenPos(),
                       ImGui::GetCursorScreenPos() + ImVec2(view.px(wide), area.GetHeight()));
      Canvas list = *ImGui::GetWindowDrawList();
      const Theme& theme = *view.theme;
      if (hitArea(fmt::format("flow.beat.{}.name", i), box)) {
        scene.cursor.flow = {shot.at.stage, view.preferences.reducedMotion ? beats[i].end : start};
        if (!view.preferences.reducedMotion) page.playTo({shot.at.stage, beats[i].end});
      }
      const bool lit = i == now || ImGui::IsItemHovered();
      paintText(list, view.fonts->text, ImVec2(box.Min.x, box.Min.y + view.px(10)),
                lit ? theme.text : theme.secondary, beats[i].name);
      const float y = box.Min.y + view.px(22),
                  done = static_cast<float>(passed(shot.at.t, start, beats[i].end));
      list.AddRectFilled(ImVec2(box.Min.x, y), ImVec2(box.Max.x, y + view.px(2.5f)), theme.line);
      list.AddRectFilled(ImVec2(box.Min.x, y), ImVec2(box.Min.x + box.GetWidth() * done, y + view.px(2.5f)),
                         theme.text);
    });
  }
  line.lastWords(firstFitting(view.fonts->small,
                              {"Space play     ← → beat     ↑ ↓ query     Shift ← → key     PgUp PgDn head",
                               "Space play   ← → beat   ↑ ↓ query", "Space play   ← → beat"},
                              line.room()));
}

}  // namespace headscope::app::flow_page
