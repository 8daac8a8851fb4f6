#include <fmt/core.h>

#include "app/compute/cost/cost_figures.h"
#include "app/pages/cache/cache_page.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app::cache_page {

namespace {

/// The plot of bytes over tokens, in pixels.
struct StairPlace {
  const FieldPlace& field;
  ImRect area;
  double most = 1;  ///< bytes at the top: MHA's with all tokens cached

  float y(double bytes) const { return area.Max.y - static_cast<float>(bytes / most) * area.GetHeight(); }
  double bytes(float y) const { return static_cast<double>((area.Max.y - y) / area.GetHeight()) * most; }
};

/// Draws the staircase of one way to cache, from the first token to the end of the sequence.
void stairLine(const View& view, Canvas list, const StairPlace& place, double perToken, Dash dash,
               std::uint32_t color, float thick) {
  const Index tokens = place.field.tokens, now = place.field.now;
  const auto steps = [&](Index from, Index to) {
    std::vector<ImVec2> points;
    // With more tokens than pixels, the step curve becomes a straight line.
    const Index every =
        std::max<Index>(1, tokens / std::max<Index>(1, static_cast<Index>(place.area.GetWidth())));
    for (Index token = from; token < to; token += every) {
      const float y = place.y(perToken * static_cast<double>(token + every));
      if (points.empty() && token > 0)
        points.emplace_back(place.field.x(token), place.y(perToken * static_cast<double>(token)));
      points.emplace_back(place.field.x(token), y);
      points.emplace_back(place.field.x(std::min(token + every, tokens)), y);
    }
    return points;
  };
  const std::vector<ImVec2> past = steps(0, now), future = steps(now, tokens);
  paintDashed(list, past, dash, view.theme->background, thick + view.px(dash == Dash::solid ? 3 : 1),
              view.unit);
  paintDashed(list, past, dash, color, thick, view.unit);
  paintDashed(list, future, dash == Dash::solid ? Dash::dashed : dash, faded(color, 0.5f),
              std::max(1.0f, thick * 0.6f), view.unit);
}

void ownBars(const View& view, Canvas list, const StairPlace& place, double perToken) {
  const Theme& theme = *view.theme;
  const FieldPlace& field = place.field;
  const float gap = field.column() >= view.px(6) ? std::max(1.0f, std::round(view.px(3))) : 0;
  const Index every = std::max<Index>(1, static_cast<Index>(std::floor(1 / std::max(field.column(), 1e-3f))));
  for (Index token = 0; token < field.tokens; token += every) {
    const double bytes = perToken * static_cast<double>(std::min(token + every, field.tokens));
    const float x = std::round(field.x(token)),
                to = std::max(x + 1, std::round(field.x(std::min(token + every, field.tokens))) - gap);
    const float bottom = place.area.Max.y;
    if (token < field.now) {
      // A new bar rises from the bottom.
      const double height = bytes * static_cast<double>(field.moment.light(token));
      const float top = place.y(height), middle = place.y(height / 2);
      const bool newest = token + every >= field.now;
      const float light = newest ? 1 : 0.8f;
      list.AddRectFilled(ImVec2(x, top), ImVec2(to, middle), mixed(theme.background, theme.key, light));
      list.AddRectFilled(ImVec2(x, middle), ImVec2(to, bottom), mixed(theme.background, theme.value, light));
    } else if (gap > 0) {
      compat::rectOutline(list, ImVec2(x, place.y(bytes)), ImVec2(to, bottom), theme.line, 0, 1);
    }
  }
}

/// A label on the right end; labels are moved apart so that they don't overlap.
struct EndLabel {
  std::string name, bytes;
  float y;
  bool own;
};

void endLabels(const View& view, Canvas list, std::vector<EndLabel> labels, float x, float bottom) {
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  const float room = lineHeight(view.fonts->text) * 1.15f;
  for (int round = 0; round < 40; ++round) {
    for (std::size_t i = 1; i < labels.size(); ++i)
      if (const float missing = room - (labels[i].y - labels[i - 1].y); missing > 0) {
        labels[i - 1].y -= missing / 2;
        labels[i].y += missing / 2;
      }
    if (!labels.empty() && labels.back().y > bottom - room / 2) labels.back().y = bottom - room / 2;
  }
  for (const EndLabel& label : labels) {
    const std::uint32_t color = label.own ? view.theme->text : view.theme->secondary;
    const float width = paintText(list, label.own ? view.fonts->bold : view.fonts->text, ImVec2(x, label.y),
                                  color, label.name);
    paintText(list, view.fonts->mono, ImVec2(x + width + view.px(6), label.y), color, label.bytes);
  }
}

void axis(const View& view, Canvas list, const StairPlace& place) {
  const int parts = place.area.GetHeight() < view.px(140) ? 2 : 4;
  for (int i = 0; i <= parts; ++i) {
    const double bytes = place.most * i / parts;
    const float y = std::round(place.y(bytes));
    list.AddLine(ImVec2(place.area.Min.x, y), ImVec2(place.area.Max.x, y),
                 faded(view.theme->line, i == 0 ? 1 : 0.7f));
    paintText(list, view.fonts->mono, ImVec2(place.area.Min.x - view.px(14), y), view.theme->secondary,
              i == 0 ? "0" : fourDigitBytes(bytes), Align::right);
  }
}

}  // namespace

void paintStairs(const Scene& scene, const State& page, const FieldPlace& field, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = page.snapshot->config;
  const CacheBytes bytes = bytesPerToken(scene, config);
  const auto tokens = static_cast<double>(field.tokens);
  const StairPlace place{field, area, std::max(1.0, static_cast<double>(bytes.mha) * tokens)};
  axis(view, list, place);
  ownBars(view, list, place, static_cast<double>(bytes.own));
  const CacheSetup& cache = scene.cost.cache;
  const bool latent = config.latentDim > 0;
  const bool isMha = !latent && config.kvHeads == config.heads, isMqa = !latent && config.kvHeads == 1;
  std::vector<EndLabel> labels{{latent ? "MLA" : kindName(config.heads, config.kvHeads),
                                fourDigitBytes(static_cast<double>(bytes.own) * tokens),
                                place.y(static_cast<double>(bytes.own) * tokens), true}};
  const auto line = [&](const char* name, std::uint64_t perToken, Dash dash, float thick) {
    stairLine(view, list, place, static_cast<double>(perToken), dash, theme.text, view.px(thick));
    const double all = static_cast<double>(perToken) * tokens;
    labels.push_back({name, fourDigitBytes(all), place.y(all), false});
  };
  // With only one or two heads, a latent of four head sizes may take more bytes than what it replaces.
  if (cache.mlaStair && !latent && bytes.mla <= bytes.mha) line("MLA", bytes.mla, Dash::dotted, 1.6f);
  if (cache.mqaStair && !isMqa) line("MQA", bytes.mqa, Dash::dashed, 1.8f);
  if (cache.mhaStair && !isMha) line("MHA", bytes.mha, Dash::solid, 2.5f);
  endLabels(view, list, std::move(labels), area.Max.x + view.px(14), area.Max.y + view.px(6));
  const std::string layers = countedText(cache.layers, "layer");
  const float left = area.Min.x + view.px(12), y = area.Min.y + view.px(13);
  const float width = paintText(list, view.fonts->bold, ImVec2(left, y), theme.text, "Cache bytes");
  // Up to the playhead's column, and only as long as the highest curve stays below the text.
  const auto highest = static_cast<double>(cache.mhaStair || isMha ? bytes.mha : bytes.own);
  const double below = place.bytes(y + lineHeight(view.fonts->text) / 2 + view.px(4)) / highest;
  const Index clear = std::clamp<Index>(static_cast<Index>(below), 0, field.tokens);
  const float end = std::min(field.now > 0 ? field.x(field.now - 1) : area.Max.x, field.x(clear));
  for (const std::string& rest : {"after each token, " + layers + "; fixed scale", layers}) {
    if (left + width + view.px(20) + textWidth(view.fonts->text, rest) >= end) continue;
    paintText(list, view.fonts->text, ImVec2(left + width + view.px(10), y), theme.secondary, rest);
    break;
  }
  // The gap between MHA's step curve and the layer's own is the saving.
  if (!isMha && cache.mhaStair && field.now > 0 && field.column() >= view.px(56)) {
    const double now = static_cast<double>(field.now);
    const float from = place.y(static_cast<double>(bytes.mha) * now),
                to = place.y(static_cast<double>(bytes.own) * now);
    const std::string saved = fractionText(bytes.mha - bytes.own, bytes.mha);
    const float x = (field.x(field.now - 1) + field.x(field.now)) / 2, middle = (from + to) / 2;
    if (to - from > view.px(52)) {
      paintText(list, view.fonts->hero, ImVec2(x, middle - view.px(10)), theme.text, saved, Align::center);
      paintText(list, view.fonts->bold, ImVec2(x, middle + view.px(13)), theme.text, "saved", Align::center);
    }
  }
}

bool viewIsEmpty(const Scene& scene, const State& page, Board& board, const std::string& problem,
                 bool waits) {
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  if (page.snapshot && page.snapshot->error) {
    const PlacedError& error = *page.snapshot->error;
    board.message(error.waits ? "Something is missing" : "This can't be computed", error.message,
                  error.waits ? 0 : board.theme().error);
  } else if (!sequence || sequence->keyLength == 0) {
    board.message("Type a sentence", "Each token becomes a column of the cache.");
  } else if (!problem.empty()) {
    board.message("This can't be shown", problem);
  } else if (waits) {
    board.message("Computing…", "The first picture follows shortly.");
  } else {
    return false;
  }
  return true;
}

Board& viewKey(const Scene& scene, const State& page, Board& board,
               const std::vector<std::string>& wordings) {
  return board.area("", {20}, [&page, wordings, legend = viewLegend(scene, page)](const ImRect& area) {
    const View& view = page.view;
    Canvas list = *ImGui::GetWindowDrawList();
    const float y = area.GetCenter().y, width = area.GetWidth();
    const float taken = paintLegendLine(view, list, ImVec2(area.Max.x, y), width, legend);
    const float room = std::max(0.0f, width - taken);
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, y), room, view.theme->secondary,
                firstFitting(view.fonts->text, wordings, room));
  });
}

void paintPicture(const View& view, const EasedTextures& textures, int layer, const ImRect& area,
                  const render::HeatmapStyle& style, const ValueRange& range) {
  Canvas list = *ImGui::GetWindowDrawList();
  if (textures.empty() || layer >= textures.current().layers()) return;
  HeatmapTile tile;
  tile.view.target = {std::round(area.Min.x), std::round(area.Min.y), std::round(area.Max.x),
                      std::round(area.Max.y)};
  tile.view.clip = tile.view.target;
  tile.view.layer = layer;
  tile.view.rows = static_cast<float>(textures.current().rows());
  tile.view.cols = static_cast<float>(textures.current().cols());
  tile.range = range;
  view.heatmaps->draw(list, textures, style, {tile});
  compat::rectOutline(list, ImVec2(area.Min.x - 1, area.Min.y - 1), ImVec2(area.Max.x + 1, area.Max.y + 1),
                      view.theme->line, 0, 1);
}

void paintNames(const Scene& scene, const View& view, const ImRect& map,
                const std::vector<attention::Token>& tokens, const NameRoom& room, bool first,
                float keysBelow) {
  if (room.left <= 0) return;
  static const std::vector<attention::Token> kNone;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto n = static_cast<float>(tokens.size());
  const auto& [head, query, key] = scene.cursor.cell;
  if (first) {
    paintAxisTitles(view, list, ImRect(map.Min.x, map.Min.y, map.Max.x, keysBelow), room.left);
    paintAxisLabels(view, list, {map, 0, 0, n, n, 0}, {&tokens, &kNone, query, -1, room.left, 0});
  }
  const ImRect columns(map.Min.x, keysBelow - 1, map.Max.x, keysBelow);
  paintAxisLabels(view, list, {columns, 0, 0, n, n, 0}, {&kNone, &tokens, -1, key, 0, room.below});
}

Index viewHead(const Scene& scene, const attention::AttentionConfig& config) {
  return std::clamp<Index>(scene.cursor.cell.head, 0, config.heads - 1);
}

std::string errorText(double error) {
  if (std::isnan(error)) return "NaN";
  if (error == 0) return "0";
  if (error < 1e-4) return numberText(error, 2);
  return numberText(error * 100, 3) + " %";
}

Index turnedDims(const std::shared_ptr<const Snapshot>& snapshot) {
  if (!snapshot) return 0;
  const Setup& setup = snapshot->setup;
  const attention::AttentionConfig& config = snapshot->config;
  if (!setup.subject.opened)
    return config.ropeTheta
               ? (setup.weights.source == WeightSource::file ? config.kvHeads : config.heads) * config.headDim
               : 0;
  const attention::ModelConfig& model = setup.subject.opened->config();
  const auto layer = static_cast<std::size_t>(setup.subject.layer);
  if (layer >= model.layers.size() || !model.layers[layer].rotation) return 0;
  return config.kvHeads * model.rotations[static_cast<std::size_t>(*model.layers[layer].rotation)].dims;
}

}  // namespace headscope::app::cache_page
