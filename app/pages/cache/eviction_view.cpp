#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/cache/cache_page.h"
#include "app/scene/text/number_text.h"
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
    case attention::EvictionPolicy::tova:
      return "evicts what the last query weighs least";
    case attention::EvictionPolicy::keynorm:
      return "evicts the longest key";
    case attention::EvictionPolicy::keydiff:
      return "evicts the key most like the others";
  }
  return "";
}

std::string policyName(attention::EvictionPolicy policy) {
  static constexpr std::array kNames{"no eviction", "window", "sinks + window", "heavy hitters",
                                     "random",      "TOVA",   "key norm",       "KeyDiff"};
  return kNames[static_cast<std::size_t>(policy)];
}

/// A policy's name at the end of a line.
std::string shortName(attention::EvictionPolicy policy) {
  static constexpr std::array kNames{"none", "window", "sinks", "heavy", "random", "TOVA", "norm", "KeyDiff"};
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

/// The weights under one policy, with the tokens' names if the map is large enough for them.
void paintPolicy(const Scene& scene, const State& page, std::size_t at, const ImRect& area) {
  const View& view = page.view;
  const auto& question = page.eviction.request();
  const auto& tokens = question.snapshot->sequences[asSize(question.sequence)].keys;
  const NameRoom names = area.GetWidth() < view.px(400) ? NameRoom{} : nameRoom(view, tokens, tokens);
  const float left = area.Min.x + names.left;
  const float side = std::max(view.px(20), std::min(area.Max.x - left, area.GetHeight() - names.below));
  const ImRect map(left, area.Min.y, left + side, area.Min.y + side);
  render::HeatmapStyle style = styleFor(view, scene.look.colormap);
  style.maskedHatch = style.masked = style.background;
  style.deadHatch = unpacked(view.theme->secondary);
  paintPicture(view, page.eviction.picture(), static_cast<int>(at), map, style, {});
  paintNames(scene, view, map, tokens, names, true, map.Max.y);
}

void policyTile(Scene& scene, State& page, std::size_t at, Board& tile) {
  const EvictionCase& one = page.eviction->cases[at];
  tile.controls([&scene, at](ControlLine& line) {
    line.list(scene, at == 0 ? "cost.cache.first_policy" : "cost.cache.second_policy");
  });
  tile.words({policyWords(one.rules.policy)}).apart(2).inWindow();
  tile.title(policyName(one.rules.policy)).onPoster();
  tile.picture(at == 0 ? "eviction.first" : "eviction.second", {90, 160, 1, tile.width()},
               [&scene, &page, at](const ImRect& area) { paintPolicy(scene, page, at, area); });
  double lost = 0, error = 0;
  for (const double each : one.massLost) lost = attention::larger(lost, each);
  for (const double each : one.outputError) error = attention::larger(error, each);
  const Index entries =
      one.entries.empty() ? 0 : one.entries.back() / page.eviction.request().snapshot->config.kvHeads;
  tile.figure({"output error, worst token", "worst output error", "error"}, percentText(error), true)
      .apart(6);
  tile.figure({"weight lost, worst token", "worst weight lost", "lost"}, percentText(lost)).leaves(2);
  tile.figure({attention::nounFor(entries, "entry") + " at the end"}, fmt::format("{}", entries)).leaves(1);
}

/// Each query's loss and the bytes stored, one plot below another.
void evictionPlots(const View& view, const EvictionStudy& study, Index tokens, double entry, Board& board) {
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
  for (const StepPlot& each : kPlots) {
    Plot plot = stepPlot(study, tokens, each.value, entry);
    const bool bytes = &each == &kPlots[2];  // which the figure above says
    if (!bytes) {
      tickShares(plot);
    } else {
      plot.value = hoverBytes;
      for (int k = 0; k <= 2; ++k)
        plot.y.ticks.push_back({plot.y.high * k / 2, k == 0 ? "0" : fourDigitBytes(plot.y.high * k / 2)});
      plot.y.high *= 1.08;
    }
    if (board.width() < 300) plot.labelRoom = textWidth(view.fonts->bold, "sinks = heavy") / view.unit + 14;
    board.title(each.title).leaves(bytes ? 1 : 0);
    board.picture("", {80, 100, 1},
                  [&view, name = each.name, plot](const ImRect& area) { drawPlot(view, name, area, plot); });
    board.apart(2).leaves(bytes ? 1 : 0);
  }
}

}  // namespace

void evictionView(Scene& scene, State& page, Board& board) {
  if (viewIsEmpty(scene, page, board, page.eviction.problem(), !page.eviction)) return;
  const EvictionStudy& study = *page.eviction;
  const auto& question = page.eviction.request();
  const attention::AttentionConfig& config = question.snapshot->config;
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
  const std::string whole = fourDigitBytes(entry * static_cast<double>(config.kvHeads * tokens));
  const std::string ofHead = headWords(question.snapshot->setup, question.head);
  board.headline(
      {"cache.figure",
       fourDigitBytes(bytes(study.cases[0])),
       {compared("Largest output error", name), compared("Largest output error", shortly),
        compared("Output error", shortly)},
       {fmt::format("of {} without eviction; weights of {}, query ↓ key →, hatched: evicted", whole, ofHead),
        fmt::format("of {}; weights of {}, hatched: evicted", whole, ofHead)}});
  const PartWidth widths[] = {{340, 2}, {190, 1}};
  board.columns(widths, 24, [&](std::size_t half, Board& column) {
    if (half == 1) return evictionPlots(page.view, study, tokens, entry, column);
    column.tiles(2, 20, [&](std::size_t i, Board& tile) { policyTile(scene, page, i, tile); });
    viewKey(scene, page, column, {}).inWindow();
  });
}

}  // namespace headscope::app::cache_page
