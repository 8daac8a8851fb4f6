#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/cache/cache_state.h"
#include "app/platform/track.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/first_fitting.h"

namespace headscope::app::cache_page {

namespace {

/// Draws a format's name, bytes and error above its two pictures; a click on the name selects it.
void column(Scene& scene, View& view, const Shown<PrecisionQuestion, PrecisionStudy>& precision,
            const PrecisionStudy& study, std::size_t at, const ImRect& area, float keysHeight,
            float mapSide) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const PrecisionCase& one = study.cases[at];
  const bool chosen = scene.cost.cache.stored == one.format;
  const std::string name = attention::rowOf(one.format).name;
  if (hitArea("precision." + name, area.Min, ImVec2(area.GetWidth(), view.px(34))))
    scene.cost.cache.stored = one.format;
  if (ImGui::IsItemHovered()) tooltip(view, attention::rowOf(one.format).help);
  if (chosen)
    list.AddRectFilled(ImVec2(area.Min.x, area.Min.y + view.px(32)),
                       ImVec2(area.Max.x, area.Min.y + view.px(34)), theme.text);
  paintText(list, chosen ? view.fonts->title : view.fonts->text, ImVec2(area.Min.x, area.Min.y + view.px(15)),
            chosen ? theme.text : theme.secondary, name);
  paintText(list, view.fonts->mono, ImVec2(area.Max.x, area.Min.y + view.px(15)),
            chosen ? theme.text : theme.secondary, exactBytes(one.bytes), Align::right);
  float y = area.Min.y + view.px(46);
  const auto share =
      static_cast<float>(one.bytes) / static_cast<float>(std::max<std::uint64_t>(study.cases[0].bytes, 1));
  list.AddRectFilled(ImVec2(area.Min.x, y), ImVec2(area.Max.x, y + view.px(10)), theme.panel);
  const float width = area.GetWidth() * share;
  list.AddRectFilled(ImVec2(area.Min.x, y), ImVec2(area.Min.x + width / 2, y + view.px(10)), theme.key);
  list.AddRectFilled(ImVec2(area.Min.x + width / 2, y), ImVec2(area.Min.x + width, y + view.px(10)),
                     theme.value);
  y += view.px(26);
  render::HeatmapStyle keys = styleFor(view, Look{});
  keys.gap = 0;
  keys.tint = cacheColors(theme).key;
  paintPicture(view, precision.picture(0), static_cast<int>(at),
               ImRect(area.Min.x, y, area.Max.x, y + keysHeight), keys, {-1, 1});
  y += keysHeight + view.px(34);
  render::HeatmapStyle map = styleFor(view, Look{});
  map.colormap = scene.look.colormap;
  map.gap = 0;
  const float most = std::max(study.mostDifference, 1e-6f);
  const float left = area.GetCenter().x - mapSide / 2;
  paintPicture(view, precision.picture(1), static_cast<int>(at), ImRect(left, y, left + mapSide, y + mapSide),
               map, {most * 1e-4f, most, true});
  y += mapSide + view.px(22);
  const auto figure = [&](const std::vector<std::string>& label, const std::string& value) {
    const float taken =
        paintText(list, view.fonts->mono, ImVec2(area.Max.x, y), theme.text, value, Align::right);
    const float room = area.GetWidth() - taken - view.px(6);
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, y), room, theme.secondary,
                firstFitting(view.fonts->text, label, room));
    y += view.px(24);
  };
  figure({"weights, all heads", "weights", "ΔA"}, one.weightError == 0 ? "0"
                                                  : std::isnan(one.weightError)
                                                      ? "NaN"
                                                      : numberText(one.weightError, 3));
  figure({"output", "ΔY"}, errorText(one.output.all));
}

}  // namespace

void precisionView(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  if (viewIsEmpty(scene, page, area, page.precision.problem(), !page.precision)) return;
  const PrecisionStudy& study = *page.precision;
  const attention::AttentionConfig& config = page.precision.request().snapshot->config;
  const PrecisionCase& chosen = study.cases[static_cast<std::size_t>(scene.cost.cache.stored)];
  const Index tokens = page.precision.request()
                           .snapshot->sequences[static_cast<std::size_t>(page.precision.request().sequence)]
                           .keyLength;
  const std::uint64_t all = chosen.bytes * static_cast<std::uint64_t>(tokens * scene.cost.cache.layers);
  const Index head = std::clamp<Index>(page.precision.request().head, 0, config.heads - 1);
  const std::string cached = tokens == 1 ? "the one token" : "all " + tokenCountText(tokens);
  const float top = viewHeadline(
      view, area, fourDigitBytes(all),
      {chosen.format == attention::NumberFormat::fp32
           ? "fp32 keeps every bit."
           : fmt::format("{} is {} of fp32; output error {}.", attention::rowOf(chosen.format).name,
                         fractionText(chosen.bytes, study.cases[0].bytes), errorText(chosen.output.all))},
      {layerPrefix(page.precision.request().snapshot->setup) +
           fmt::format("keys and values of {} are quantised, then attention is recomputed", cached),
       fmt::format("keys and values of {}, quantised", cached)},
      small);
  const float space = view.px(small ? 14 : 24), count = static_cast<float>(study.cases.size());
  const float each = (area.GetWidth() - (count - 1) * space) / count;
  const float rest = area.Max.y - top - view.px(46 + 26 + 34 + 22 + (view.present ? 48 : 90));
  // While presenting, the differences matter most, and the keys take the rest.
  const float map = std::min(each, rest * (view.present ? 0.84f : 0.66f));
  const float keys = std::clamp(rest - map, view.px(24), view.px(400));
  Canvas list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const float left = area.Min.x + static_cast<float>(i) * (each + space);
    column(scene, page.view, page.precision, study, i, ImRect(left, top, left + each, area.Max.y), keys, map);
  }
  const float keyWords = top + view.px(72) + keys + view.px(14);
  const std::string most = numberText(static_cast<double>(study.mostDifference), 3);
  const Index kv = config.kvHeadOf(head);
  const std::vector<std::string> words{
      fmt::format("above: keys of KV {} as stored, dimensions ↓ tokens →     below: |Δ weights| of head {}, "
                  "query ↓ key →, logarithmic up to {}",
                  kv, head, most),
      fmt::format("above: keys of KV {}     below: |Δ weights| of head {}, logarithmic up to {}", kv, head,
                  most),
      fmt::format("above: keys of KV {}     below: |Δ weights| of head {}", kv, head)};
  paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, keyWords), area.GetWidth(),
              view.theme->secondary, firstFitting(view.fonts->text, words, area.GetWidth()));
}

}  // namespace headscope::app::cache_page
