#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"
#include "attention/core/extremes.h"

namespace headscope::app::cache_page {

namespace {

const char* policyWords(attention::EvictionPolicy policy) {
  switch (policy) {
    case attention::EvictionPolicy::none:
      return "keeps all tokens";
    case attention::EvictionPolicy::window:
      return "evicts the oldest";
    case attention::EvictionPolicy::sinks:
      return "keeps the first four and the newest";
    case attention::EvictionPolicy::heavy:
      return "keeps heavy hitters and the newest half";
    case attention::EvictionPolicy::random:
      return "evicts at random (baseline)";
  }
  return "";
}

std::string policyName(attention::EvictionPolicy policy) {
  static constexpr std::array kNames{"no eviction", "window", "sinks + window", "heavy hitters", "random"};
  return kNames[static_cast<std::size_t>(policy)];
}

/// A policy's name at the end of a line.
std::string shortName(attention::EvictionPolicy policy) {
  static constexpr std::array kNames{"none", "window", "sinks", "heavy", "random"};
  return kNames[static_cast<std::size_t>(policy)];
}

/// The next of 1, 2, 5, 10, 20, … times a power of ten, for round ticks.
double niceAbove(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0})
    if (value <= step * unit) return step * unit;
  return 10 * unit;
}

std::string hoverShare(double value) {
  return percentText(value);
}
std::string hoverToken(double token) {
  return fmt::format("query {:.0f}", std::round(token));
}
std::string hoverBytes(double bytes) {
  return fourDigitBytes(bytes);
}

/// A plot of a value at each query, for both policies.
Plot stepPlot(const EvictionStudy& study, Index tokens,
              double (*value)(const EvictionCase&, std::size_t, double), double unit) {
  Plot plot;
  plot.x.logarithmic = plot.y.logarithmic = false;
  plot.x.low = 0;
  plot.x.high = std::max<double>(1, static_cast<double>(tokens - 1));
  const Index every = powerOfTwoStep(7, static_cast<double>(tokens + 1), tokens);
  for (Index token = 0; token < tokens; token += every)
    plot.x.ticks.push_back({static_cast<double>(token), std::to_string(token)});
  plot.x.title = "query";
  double most = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const EvictionCase& one = study.cases[i];
    PlotLine line{shortName(one.rules.policy), {}, i == 0 ? Dash::solid : Dash::dashed};
    line.chosen = i == 0;
    for (std::size_t at = 0; at < one.entries.size(); ++at) {
      const double y = value(one, at, unit);
      line.points.push_back({static_cast<double>(at), y});
      if (std::isfinite(y)) most = std::max(most, y);
    }
    plot.lines.push_back(std::move(line));
  }
  plot.y.low = 0;
  // Don't scale up mere rounding errors.
  plot.y.high = most > 1e-5 ? most : 1;
  plot.labelRoom = 112;
  plot.place = hoverToken;
  return plot;
}

void tickShares(Plot& plot) {
  plot.y.high = niceAbove(plot.y.high);
  for (int i = 0; i <= 2; ++i) {
    const double share = plot.y.high * i / 2;
    plot.y.ticks.push_back({share, i == 0 ? "0" : roundedText(share * 100) + " %"});
  }
  plot.y.high *= 1.04;
  plot.value = hoverShare;
}

void policyTile(Scene& scene, View& view, const Shown<EvictionQuestion, EvictionStudy>& eviction,
                const EvictionStudy& study, std::size_t at, const ImRect& area, bool small) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const EvictionCase& one = study.cases[at];
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Min.y));
  fieldChoice(view, scene, at == 0 ? "cost.cache.first_policy" : "cost.cache.second_policy", {},
              view.px(180));
  const float y = area.Min.y + view.px(13);
  // While presenting, skip an explanation that would be cut off; the policy's name suffices.
  const float wordsRoom = area.GetWidth() - view.px(196);
  if (const char* words = policyWords(one.rules.policy);
      !view.present || textWidth(view.fonts->text, words) <= wordsRoom)
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x + view.px(196), y), wordsRoom,
                theme.secondary, words);
  const auto& question = eviction.request();
  const auto& tokens = question.snapshot->sequences[static_cast<std::size_t>(question.sequence)].keys;
  const NameRoom names = small ? NameRoom{} : nameRoom(view, tokens, tokens);
  const float top = area.Min.y + view.px(small ? 38 : 52), left = area.Min.x + names.left;
  const float figures = view.present ? view.px(54) : 0;
  const float side = std::min(area.Max.x - left, area.Max.y - top - view.px(2) - names.below - figures);
  const ImRect map(left, top, left + side, top + side);
  render::HeatmapStyle style = styleFor(view, scene.look);
  style.colormap = scene.look.colormap;
  style.maskedHatch = style.masked = style.background;
  style.deadHatch = unpacked(theme.secondary);
  paintPicture(view, eviction.picture(), static_cast<int>(at), map, style, {});
  paintNames(scene, view, map, tokens, names, true, map.Max.y);
  track(at == 0 ? "eviction.first" : "eviction.second", map.Min, map.Max);
  // While presenting, the map takes the full width, with the figures below it.
  const float x = view.present ? area.Min.x : map.Max.x + view.px(18), room = area.Max.x - x;
  if (room < view.px(90)) return;
  float line = view.present ? map.Max.y + view.px(20) : map.Min.y + view.px(12);
  // The most important first: as many as fit next to the map.
  const auto figure = [&](const std::string& value, const char* label) {
    if (line + view.px(32) > area.Max.y) return;
    paintFitted(view, list, view.fonts->monoTitle, ImVec2(x, line), room, theme.text, value);
    paintFitted(view, list, view.fonts->text, ImVec2(x, line + view.px(22)), room, theme.secondary, label);
    line += view.px(58);
  };
  double lost = 0, error = 0;
  for (const double each : one.massLost) lost = attention::larger(lost, each);
  for (const double each : one.outputError) error = attention::larger(error, each);
  const Index entries =
      one.entries.empty() ? 0 : one.entries.back() / eviction.request().snapshot->config.kvHeads;
  figure(percentText(error), "output error, worst token");
  figure(percentText(lost), "weight lost, worst token");
  figure(fmt::format("{}", entries), (attention::nounFor(entries, "entry") + " at the end").c_str());
}

/// Draws each query's loss and the bytes stored, below the maps; while presenting, right of them.
void evictionPlots(const View& view, const EvictionStudy& study, Index tokens, double entry,
                   const ImRect& area, const ImRect& maps, float space) {
  // While presenting, type is large and only two plots fit; the figure above shows the bytes.
  const std::size_t plots = view.present ? 2 : 3;
  const auto plotArea = [&](std::size_t i) {
    const auto at = static_cast<float>(i), of = static_cast<float>(plots);
    if (view.present) {
      const float each = maps.GetHeight() / of;
      return ImRect(maps.Max.x + space, maps.Min.y + at * each, area.Max.x,
                    maps.Min.y + (at + 1) * each - view.px(8));
    }
    const float each = (area.GetWidth() - (of - 1) * space) / of, left = area.Min.x + at * (each + space);
    return ImRect(left, maps.Max.y + view.px(14), left + each, area.Max.y);
  };
  struct StepPlot {
    const char *name, *title;
    double (*value)(const EvictionCase&, std::size_t, double);
  };
  static constexpr StepPlot kPlots[] = {
      {"eviction.error", "Output error",
       [](const EvictionCase& one, std::size_t at, double) { return one.outputError[at]; }},
      {"eviction.mass", "Weight on evicted keys",
       [](const EvictionCase& one, std::size_t at, double) { return one.massLost[at]; }},
      {"eviction.bytes", "Bytes in the cache", [](const EvictionCase& one, std::size_t at, double unit) {
         return unit * static_cast<double>(one.entries[at]);
       }}};
  Canvas list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < plots; ++i) {
    const ImRect place = plotArea(i);
    paintText(list, view.fonts->bold, ImVec2(place.Min.x, place.Min.y + view.px(8)), view.theme->text,
              kPlots[i].title);
    Plot plot = stepPlot(study, tokens, kPlots[i].value, entry);
    if (i < 2) {
      tickShares(plot);
    } else {
      plot.value = hoverBytes;
      for (int k = 0; k <= 2; ++k)
        plot.y.ticks.push_back({plot.y.high * k / 2, k == 0 ? "0" : fourDigitBytes(plot.y.high * k / 2)});
      plot.y.high *= 1.08;
    }
    if (view.present) plot.labelRoom = 66;
    drawPlot(view, kPlots[i].name, ImRect(place.Min.x, place.Min.y + view.px(20), place.Max.x, place.Max.y),
             plot);
  }
}

}  // namespace

void evictionView(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  if (viewIsEmpty(scene, page, area, page.eviction.problem(), !page.eviction)) return;
  const EvictionStudy& study = *page.eviction;
  const attention::AttentionConfig& config = page.eviction.request().snapshot->config;
  const auto tokens = static_cast<Index>(study.cases[0].entries.size());
  const double entry =
      static_cast<double>(bytesPerToken(scene, config).own) / static_cast<double>(config.kvHeads);
  const auto bytes = [&](const EvictionCase& one) {
    return one.entries.empty() ? 0 : entry * static_cast<double>(one.entries.back());
  };
  double worst[2] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i)
    for (const double each : study.cases[i].outputError) worst[i] = attention::larger(worst[i], each);
  const auto name = [&](std::size_t i) { return policyName(study.cases[i].rules.policy); };
  const auto compared = [&](const char* what, auto&& called) {
    return fmt::format("{}: {} {}, {} {}.", what, called(0), percentText(worst[0]), called(1),
                       percentText(worst[1]));
  };
  const auto shortly = [&](std::size_t i) { return shortName(study.cases[i].rules.policy); };
  const std::vector<std::string> sentence{compared("Largest output error", name),
                                          compared("Largest output error", shortly),
                                          compared("Output error", shortly)};
  const std::string whole = fourDigitBytes(entry * static_cast<double>(config.kvHeads * tokens));
  const std::string ofHead = headWords(page.eviction.request().snapshot->setup, page.eviction.request().head);
  const float top = viewHeadline(view, area, fourDigitBytes(bytes(study.cases[0])), sentence,
                                 {fmt::format("of {} without eviction; weights of {}, {}hatched: evicted",
                                              whole, ofHead, small ? "query ↓ key →, " : ""),
                                  fmt::format("of {}; weights of {}, hatched: evicted", whole, ofHead)},
                                 small);
  if (!small)
    paintColourBar(view, scene.look.colormap, {"0", "weight", "1"},
                   ImVec2(area.Max.x, area.Min.y + view.px(24)), view.px(170));
  const float space = view.px(small ? 20 : 36);
  const float bottom = view.present ? top : area.Max.y - (area.Max.y - top) * (small ? 0.42f : 0.38f);
  const ImRect maps(area.Min.x, top, view.present ? area.Min.x + area.GetWidth() * 0.66f : area.Max.x,
                    view.present ? area.Max.y : bottom - view.px(14));
  const float half = (maps.GetWidth() - space) / 2;
  policyTile(scene, page.view, page.eviction, study, 0,
             ImRect(maps.Min.x, top, maps.Min.x + half, maps.Max.y), small);
  policyTile(scene, page.view, page.eviction, study, 1,
             ImRect(maps.Max.x - half, top, maps.Max.x, maps.Max.y), small);
  evictionPlots(view, study, tokens, entry, area, maps, space);
}

}  // namespace headscope::app::cache_page
